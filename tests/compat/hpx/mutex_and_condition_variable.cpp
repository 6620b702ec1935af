// SPDX-License-Identifier: BSL-1.0
// Mutexes and condition variables of many kinds, a lock that is released for a while, one that is
// upgraded, interrupted threads, and a tss_value of each thread.
#include <hpx/condition_variable.hpp>
#include <hpx/future.hpp>
#include <hpx/init.hpp>
#include <hpx/modules/testing.hpp>
#include <hpx/mutex.hpp>
#include <hpx/shared_mutex.hpp>
#include <hpx/thread.hpp>

#include <chrono>
#include <mutex>
#include <queue>
#include <shared_mutex>
#include <vector>

template <class Mutex>
void count_under() {
    Mutex mtx;
    int count = 0;
    std::vector<hpx::future<void>> tasks;
    for (int i = 0; i != 100; ++i) {
        tasks.push_back(hpx::async([&] {
            std::lock_guard<Mutex> lock(mtx);
            ++count;
        }));
    }
    hpx::wait_all(tasks);
    HPX_TEST_EQ(count, 100);
}

void producer_and_consumer() {
    hpx::mutex mtx;
    hpx::condition_variable changed;
    std::queue<int> queue;
    hpx::thread producer([&] {
        for (int i = 1; i <= 100; ++i) {
            {
                std::lock_guard<hpx::mutex> lock(mtx);
                queue.push(i);
            }
            changed.notify_one();
        }
    });
    int total = 0;
    for (int i = 0; i != 100; ++i) {
        std::unique_lock<hpx::mutex> lock(mtx);
        changed.wait(lock, [&] { return !queue.empty(); });
        int const value = queue.front();
        queue.pop();
        hpx::unlock_guard<std::unique_lock<hpx::mutex>> const open(lock);
        total += value;
    }
    producer.join();
    HPX_TEST_EQ(total, 5050);
}

void until_stopped() {
    hpx::mutex mtx;
    hpx::condition_variable_any never;
    bool stopped = false;
    {
        hpx::jthread waiter([&](hpx::stop_token token) {
            std::unique_lock<hpx::mutex> lock(mtx);
            stopped = !never.wait(lock, token, [] { return false; });
        });
    }
    HPX_TEST(stopped);
}

void readers_and_upgrades() {
    hpx::shared_mutex mtx;
    int value = 0;
    std::vector<hpx::thread> threads;
    for (int i = 0; i != 8; ++i) {
        threads.emplace_back([&] {
            {
                std::shared_lock<hpx::shared_mutex> lock(mtx);
                hpx::this_thread::yield();
            }
            hpx::upgrade_lock<hpx::shared_mutex> lock(mtx);
            int const before = value;
            hpx::upgrade_to_unique_lock<hpx::shared_mutex> const alone(lock);
            value = before + 1;
        });
    }
    for (hpx::thread& each : threads) {
        each.join();
    }
    HPX_TEST_EQ(value, 8);
}

void interruption() {
    bool reached = false;
    hpx::thread sleeper([&] {
        hpx::this_thread::sleep_for(std::chrono::hours(1));
        reached = true;
    });
    sleeper.interrupt();
    sleeper.join();
    HPX_TEST(!reached);

    hpx::thread deaf([&] {
        hpx::this_thread::disable_interruption const no;
        hpx::this_thread::interruption_point();
        reached = true;
    });
    deaf.join();
    HPX_TEST(reached);
    HPX_TEST_THROW(deaf.join(), hpx::exception);
}

hpx::threads::thread_specific_ptr<int> tss_value;

void values_of_threads() {
    std::vector<hpx::future<void>> tasks;
    for (int i = 0; i != 10; ++i) {
        tasks.push_back(hpx::async([i] {
            HPX_TEST(tss_value.get() == nullptr);
            tss_value.reset(new int(i));
            hpx::this_thread::yield();
            HPX_TEST_EQ(*tss_value, i);
        }));
    }
    hpx::wait_all(tasks);
}

int hpx_main() {
    count_under<hpx::mutex>();
    count_under<hpx::spinlock>();
    count_under<hpx::timed_mutex>();
    count_under<hpx::recursive_mutex>();
    count_under<hpx::shared_mutex>();
    producer_and_consumer();
    until_stopped();
    readers_and_upgrades();
    interruption();
    values_of_threads();

    hpx::once_flag flag;
    int calls = 0;
    for (int i = 0; i != 3; ++i) {
        hpx::call_once(flag, [&calls] { ++calls; });
    }
    HPX_TEST_EQ(calls, 1);
    return hpx::finalize();
}

int main(int argc, char* argv[]) {
    HPX_TEST_EQ(hpx::init(hpx_main, argc, argv), 0);
    return hpx::util::report_errors();
}
