// SPDX-License-Identifier: BSL-1.0
// Calls from threads outside run in the place of sleeping workers: on the calling thread, without a
// wake-up. Nothing is lost or forgotten when such a guest leaves.
#include <quern/task/detail/run_on.hpp>

#include <quern/task/blocking_region.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/pin_to_worker.hpp>
#include <quern/task/task_group.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

class guest_test : public quern_test::on_runtime {
protected:
    quern::detail::pool& pool() { return rt.default_pool().get(); }
    template <class F>
    auto call(F&& f) {
        return quern::detail::run_on(pool(), nullptr, std::forward<F>(f));
    }
    /// No worker runs or searches. A worker that a report calls asleep may not be at rest yet.
    void wait_until_all_rest() {
        ASSERT_TRUE(quern_test::eventually([this] { return pool().all_asleep(); }));
        std::this_thread::sleep_for(5ms);
    }
};
QUERN_ON_ALL_POLICIES(guest_test);

TEST_P(guest_test, runs_on_the_calling_thread_while_a_worker_sleeps) {
    wait_until_all_rest();
    const pid_t here = quern_test::os_thread();
    EXPECT_EQ(call([] { return quern_test::os_thread(); }), here);
    EXPECT_TRUE(call([] { return quern::this_task::is_task(); }));
    EXPECT_FALSE(quern::this_task::is_task());
    EXPECT_GE(call([] { return quern::current_worker_rank(); }), 0);
    EXPECT_EQ(quern::current_worker_rank(), -1);
}

TEST_P(guest_test, gives_results_and_exceptions) {
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(call([i] { return 2 * i; }), 2 * i);
        EXPECT_THROW(call([]() -> int { throw std::runtime_error("from a guest"); }),
                     std::runtime_error);
    }
}

TEST_P(guest_test, leaves_what_it_has_made_to_the_workers) {
    std::atomic<int> run{0};
    for (int i = 0; i < 50; ++i) {
        call([&] {
            for (int k = 0; k < 10; ++k) {
                quern::post([&] { run.fetch_add(1); });
            }
        });
    }
    EXPECT_TRUE(quern_test::eventually([&] { return run.load() == 500; }));
}

TEST_P(guest_test, may_suspend_and_wait_for_others) {
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(call([] {
                      int sum = quern::async([] {
                                    quern::this_task::yield();
                                    return 1;
                                }).get();
                      quern::this_task::yield();
                      quern::this_task::sleep_for(20us);
                      quern::task_group group;
                      std::atomic<int> more{0};
                      for (int k = 0; k < 8; ++k) {
                          group.run([&more] {
                              quern::this_task::yield();
                              more.fetch_add(1);
                          });
                      }
                      group.wait();
                      const auto [a, b] = quern::fork_join([] { return 1; }, [] { return 2; });
                      quern::blocking([] { std::this_thread::sleep_for(10us); });
                      return sum + more.load() + a + b;
                  }),
                  12);
    }
}

TEST_P(guest_test, keeps_no_timer_waiting_when_it_has_gone) {
    for (int i = 0; i < 10; ++i) {
        std::atomic<bool> rung{false};
        call([&] {
            quern::post([&] {
                quern::this_task::sleep_for(200us);
                rung.store(true);
            });
        });
        ASSERT_TRUE(quern_test::eventually([&] { return rung.load(); }));
    }
}

TEST_P(guest_test, several_threads_are_guests_at_once) {
    std::atomic<long> sum{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 6; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < quern_test::scaled(2'000, 200); ++i) {
                sum.fetch_add(call([t, i] { return t + i; }) - t - i);
                if (i % 64 == t) {
                    std::this_thread::sleep_for(50us);  // so that workers fall asleep
                }
                if (i % 7 == 0) {
                    quern::async({.pool = &pool()}, [] { quern::this_task::yield(); }).get();
                }
            }
        });
    }
    for (std::thread& each : threads) {
        each.join();
    }
    EXPECT_EQ(sum.load(), 0);
}

TEST_P(guest_test, leaves_pinned_tasks_to_their_workers_threads) {
    std::vector<quern::future<bool>> stayed;
    for (unsigned i = 0; i < 2 * workers(); ++i) {
        stayed.push_back(quern::async({.pool = &pool()}, [] {
            const quern::pin_to_worker here;
            const pid_t thread = quern_test::os_thread();
            bool same = true;
            for (int k = 0; k < 20; ++k) {
                quern::this_task::sleep_for(30us);
                same = same && quern_test::os_thread() == thread;
            }
            return same;
        }));
    }
    for (int i = 0; i < quern_test::scaled(500, 50); ++i) {
        call([] {});
        std::this_thread::sleep_for(10us);
    }
    for (auto& each : stayed) {
        EXPECT_TRUE(each.get());
    }
}

TEST_P(guest_test, that_pins_itself_stays_on_a_worker_of_the_pool) {
    wait_until_all_rest();
    const pid_t outside = quern_test::os_thread();
    EXPECT_TRUE(call([outside] {
        const quern::pin_to_worker here;
        const pid_t thread = quern_test::os_thread();
        bool same = thread != outside;
        for (int k = 0; k < 10; ++k) {
            quern::this_task::sleep_for(30us);
            same = same && quern_test::os_thread() == thread;
        }
        return same;
    }));
}

TEST_P(guest_test, may_be_the_last_before_the_runtime_ends) {
    for (int i = 0; i < 20; ++i) {
        std::atomic<int> run{0};
        {
            quern::runtime second(quern::runtime_options::with_workers(workers()));
            std::this_thread::sleep_for(i % 2 == 0 ? 0us : 200us);
            quern::detail::run_on(second.default_pool().get(), nullptr, [&] {
                for (int k = 0; k < 5; ++k) {
                    quern::post([&] { run.fetch_add(1); });
                }
            });
        }
        EXPECT_EQ(run.load(), 5);
    }
}

}  // namespace
