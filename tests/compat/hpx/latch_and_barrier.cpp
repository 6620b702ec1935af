// SPDX-License-Identifier: BSL-1.0
// Latches and barriers, the standard's and HPX's own, events and semaphores.
#include <hpx/barrier.hpp>
#include <hpx/future.hpp>
#include <hpx/init.hpp>
#include <hpx/latch.hpp>
#include <hpx/modules/synchronization.hpp>
#include <hpx/modules/testing.hpp>
#include <hpx/semaphore.hpp>
#include <hpx/thread.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <vector>

std::ptrdiff_t const num_threads = 16;

void latches() {
    std::atomic<int> arrived{0};
    hpx::latch l(num_threads + 1);
    std::vector<hpx::future<void>> results;
    for (std::ptrdiff_t i = 0; i != num_threads; ++i) {
        results.push_back(hpx::async([&] {
            ++arrived;
            l.arrive_and_wait();
        }));
    }
    HPX_TEST(!l.try_wait());
    l.arrive_and_wait();
    hpx::wait_all(results);
    HPX_TEST_EQ(arrived.load(), num_threads);

    hpx::lcos::local::latch grows(1);
    for (std::ptrdiff_t i = 0; i != num_threads; ++i) {
        grows.count_up(1);
        hpx::post([&grows] { grows.count_down(1); });
    }
    grows.count_down_and_wait();
    HPX_TEST(grows.is_ready());
    grows.reset(1);
    HPX_TEST(!grows.is_ready());
    grows.count_down(1);
}

void barriers() {
    int phase = 0;
    auto on_completion = [&phase]() noexcept { ++phase; };
    hpx::barrier<decltype(on_completion)> all(num_threads, on_completion);
    std::vector<hpx::future<void>> results;
    for (std::ptrdiff_t i = 0; i != num_threads; ++i) {
        results.push_back(hpx::async([&] {
            for (int step = 1; step <= 10; ++step) {
                all.arrive_and_wait();
                all.arrive_and_wait();
            }
        }));
    }
    hpx::wait_all(results);
    HPX_TEST_EQ(phase, 20);

    // One of HPX's: one more count for every task that is made.
    hpx::lcos::local::barrier b(1);
    std::atomic<std::size_t> c(0);
    for (std::size_t i = 0; i != 64; ++i) {
        b.count_up();
        hpx::threads::thread_init_data data(hpx::threads::make_thread_function_nullary([&b, &c] {
                                                ++c;
                                                b.wait();
                                            }),
                                            "at the barrier");
        hpx::threads::register_work(data);
    }
    b.wait();
    HPX_TEST_EQ(c.load(), std::size_t(64));
}

void events_and_semaphores() {
    hpx::lcos::local::event ready;
    hpx::future<void> waiter = hpx::async([&ready] { ready.wait(); });
    HPX_TEST(!ready.occurred());
    ready.set();
    waiter.get();

    hpx::counting_semaphore_var<> sem;
    std::atomic<int> count{0};
    for (int i = 0; i != 10; ++i) {
        hpx::post([&] {
            ++count;
            sem.signal();
        });
    }
    sem.wait(10);
    HPX_TEST_EQ(count.load(), 10);

    hpx::counting_semaphore<> two(2);
    std::atomic<int> inside{0}, most{0};
    std::vector<hpx::future<void>> visits;
    for (int i = 0; i != 20; ++i) {
        visits.push_back(hpx::async([&] {
            two.acquire();
            int const now = ++inside;
            int seen = most.load();
            while (seen < now && !most.compare_exchange_weak(seen, now)) {
            }
            hpx::this_thread::yield();
            --inside;
            two.release();
        }));
    }
    hpx::wait_all(visits);
    HPX_TEST_LTE(most.load(), 2);
}

int hpx_main() {
    latches();
    barriers();
    events_and_semaphores();
    return hpx::local::finalize();
}

int main(int argc, char* argv[]) {
    HPX_TEST_EQ(hpx::local::init(hpx_main, argc, argv), 0);
    return hpx::util::report_errors();
}
