// SPDX-License-Identifier: BSL-1.0
// Pinned tasks: they resume on their worker after every kind of wait, are never stolen, are not
// forgotten by a sleeping or throttled worker, and do not keep other tasks from running.
#include <quern/task/pin_to_worker.hpp>

#include <quern/task/blocking_region.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/scope.hpp>
#include <quern/task/task_group.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <chrono>
#include <optional>
#include <thread>
#include <vector>

namespace {

using quern::current_worker_rank;
using quern::pin_to_worker;
namespace this_task = quern::this_task;
using namespace std::chrono_literals;

class pin_to_worker_test : public quern_test::on_runtime {
protected:
    quern::task_attributes hinted_to(unsigned rank) {
        return {.worker = static_cast<int>(rank), .pool = &rt.default_pool().get()};
    }
};
QUERN_ON_ALL_POLICIES(pin_to_worker_test);

/// A task that many threads try to resume, each in another way.
void wait_in_all_ways() {
    this_task::yield();
    this_task::sleep_for(20us);
    quern::async([] { this_task::yield(); }).get();
    quern::promise<void> promised;
    auto kept = promised.get_future();
    std::thread([&promised] { promised.set_value(); }).join();
    kept.get();
    quern::async(quern::launch::fork, [] {}).get();
    quern::task_group group;
    for (int i = 0; i < 4; ++i) {
        group.run([] { this_task::yield(); });
    }
    group.wait();
    quern::fork_join([] { quern_test::spin_for(30us); }, [] { quern_test::spin_for(30us); });
}

// Holds: pin_to_worker: After every wait the task resumes only on the worker on which it made this.
TEST_P(pin_to_worker_test, goes_on_where_it_began_after_every_wait) {
    std::vector<quern::future<void>> all;
    for (unsigned i = 0; i < 8 * workers(); ++i) {
        all.push_back(quern::async(hinted_to(i), [] {
            const pin_to_worker here;
            const int rank = current_worker_rank();
            const pid_t thread = quern_test::os_thread();
            for (int k = 0; k < quern_test::scaled(20, 5); ++k) {
                wait_in_all_ways();
                ASSERT_EQ(current_worker_rank(), rank);
                ASSERT_EQ(quern_test::os_thread(), thread);
            }
        }));
    }
    for (auto& f : all) {
        f.get();
    }
}

// Holds: pin_to_worker: A pinned task stays also when a thief or a group's last task would hand
//     over to it.
TEST_P(pin_to_worker_test, is_not_handed_over_by_the_thief_of_its_child) {
    inside([] {
        const pin_to_worker here;
        const int rank = current_worker_rank();
        for (int i = 0; i < 200; ++i) {
            quern::fork_join([] { quern_test::spin_for(50us); }, [] {});
            ASSERT_EQ(current_worker_rank(), rank);
        }
    });
}

// Holds: pin_to_worker: A pinned task stays also when a...
TEST_P(pin_to_worker_test, is_not_handed_over_by_the_last_task_of_its_group) {
    inside([] {
        const pin_to_worker here;
        const int rank = current_worker_rank();
        for (int i = 0; i < 100; ++i) {
            quern::task_group group;
            for (int k = 0; k < 8; ++k) {
                group.run([] { quern_test::spin_for(10us); });
            }
            group.wait();
            ASSERT_EQ(current_worker_rank(), rank);
        }
    });
}

// Holds: pin_to_worker: A pinned task stays also when other workers are idle.
TEST_P(pin_to_worker_test, waits_for_its_worker_and_for_no_other) {
    if (workers() == 1) {
        GTEST_SKIP() << "needs another worker";
    }
    quern_test::waiting_room room;
    std::atomic<int> rank{-1};
    auto pinned = quern::async(rt, [&] {
        const pin_to_worker here;
        rank = current_worker_rank();
        room.wait();
        return current_worker_rank();
    });
    ASSERT_TRUE(quern_test::eventually([&] { return room.size() == 1; }));
    quern_test::spin_gate release;
    std::atomic<bool> held{false};
    std::vector<quern::future<void>> others;  // until one of them occupies the pinned task's worker
    auto hold = [&] {
        if (current_worker_rank() == rank) {
            held = true;
            release.pass();
        }
    };
    while (!held) {
        others.push_back(quern::async(hinted_to(static_cast<unsigned>(rank.load())), hold));
        std::this_thread::yield();
    }
    room.resume_all();
    for (int i = 0; i < 50; ++i) {  // the others are free, and steal what they can
        inside([] {});
    }
    EXPECT_FALSE(pinned.is_ready());
    release.open();
    EXPECT_EQ(pinned.get(), rank.load());
    for (auto& f : others) {
        f.get();
    }
}

// Holds: pin_to_worker: A worker that sleeps is woken for a task that is pinned to it.
TEST_P(pin_to_worker_test, wakes_its_worker_when_all_sleep) {
    for (int i = 0; i < 20; ++i) {
        quern_test::waiting_room room;
        std::atomic<int> rank{-1};
        auto pinned = quern::async(hinted_to(static_cast<unsigned>(i)), [&] {
            const pin_to_worker here;
            rank = current_worker_rank();
            room.wait();
            return current_worker_rank();
        });
        ASSERT_TRUE(quern_test::eventually([&] { return room.size() == 1; }));
        ASSERT_TRUE(quern_test::eventually([&] { return rt.default_pool().get().quiet(); }));
        room.resume_all();
        EXPECT_EQ(pinned.get(), rank.load());
    }
}

// Holds: pin_to_worker: A pinned task also resumes on a worker that active_workers keeps from other
//     work.
TEST_P(pin_to_worker_test, goes_on_on_a_throttled_worker_that_takes_nothing_else) {
    if (workers() == 1) {
        GTEST_SKIP() << "one worker is always active";
    }
    const auto last = static_cast<int>(workers()) - 1;
    std::atomic<bool> stop{false};
    std::atomic<int> rounds{0};
    std::vector<quern::future<bool>> attempts;  // until one has reached the last worker
    std::atomic<bool> there{false};
    while (!there) {
        attempts.push_back(quern::async(hinted_to(workers() - 1), [&] {
            if (current_worker_rank() != last || there.exchange(true)) {
                return true;
            }
            const pin_to_worker here;
            bool stayed = true;
            while (!stop) {
                this_task::sleep_for(50us);
                stayed = stayed && current_worker_rank() == last;
                ++rounds;
            }
            return stayed;
        }));
        std::this_thread::yield();
    }
    rt.default_pool().set_active_workers(1);
    const int before = rounds;
    EXPECT_TRUE(quern_test::eventually([&] { return rounds > before + 20; }));
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(inside(current_worker_rank), 0);
    }
    stop = true;
    for (auto& f : attempts) {
        EXPECT_TRUE(f.get());
    }
}

// Holds: pin_to_worker: It does not keep others off the worker.
TEST_P(pin_to_worker_test, lets_others_run_when_it_yields) {
    inside([] {
        const pin_to_worker here;
        std::atomic<bool> ran{false};
        quern::post([&ran] { ran = true; });
        while (!ran) {
            this_task::yield();
        }
        ran = false;
        quern::post({.urgency = quern::priority::low}, [&ran] { ran = true; });
        while (!ran) {
            this_task::yield();
        }
    });
}

// Holds: pin_to_worker: The worker takes what is pinned to it in turns with everything else.
TEST_P(pin_to_worker_test, gets_its_turn_beside_restless_tasks) {
    std::atomic<bool> stop{false};
    std::vector<quern::future<void>> restless;
    for (unsigned i = 0; i < 2 * workers(); ++i) {
        restless.push_back(quern::async(rt, [&stop] {
            while (!stop) {
                this_task::yield();
            }
        }));
    }
    inside([] {
        const pin_to_worker here;
        for (int i = 0; i < 100; ++i) {
            this_task::yield();
        }
    });
    stop = true;
    for (auto& f : restless) {
        f.get();
    }
}

// Holds: pin_to_worker: Scopes may be nested; the outermost counts.
TEST_P(pin_to_worker_test, holds_until_the_outermost_scope_ends) {
    if (workers() == 1) {
        GTEST_SKIP() << "needs another worker";
    }
    inside([] {
        {
            const pin_to_worker outer;
            const int rank = current_worker_rank();
            {
                const pin_to_worker inner;
                this_task::yield();
            }
            for (int i = 0; i < 20; ++i) {
                quern::fork_join([] { quern_test::spin_for(50us); }, [] {});
                ASSERT_EQ(current_worker_rank(), rank);
            }
        }
        EXPECT_TRUE(quern_test::move_to_another_worker());
    });
}

// Holds: pin_to_worker: It holds on a fresh stack, and ends when an exception leaves its scope.
TEST_P(pin_to_worker_test, holds_on_a_fresh_stack) {
    inside([] {
        const pin_to_worker here;
        const int rank = current_worker_rank();
        const auto body = [](void*) {
            for (int i = 0; i < 20; ++i) {
                this_task::yield();
                this_task::sleep_for(1us);
            }
        };
        quern::detail::call_on_fresh_stack(body, nullptr);
        EXPECT_EQ(current_worker_rank(), rank);
    });
}

// Holds: pin_to_worker: It holds on a...
TEST_P(pin_to_worker_test, ends_with_its_scope_when_an_exception_leaves_it) {
    if (workers() == 1) {
        GTEST_SKIP() << "needs another worker";
    }
    inside([] {
        try {
            const pin_to_worker here;
            this_task::yield();
            throw 1;
        } catch (int) {
            EXPECT_TRUE(quern_test::move_to_another_worker());
        }
    });
}

// Holds: blocking_region: In a task that pin_to_worker holds it does nothing.
TEST_P(pin_to_worker_test, blocks_its_worker_in_a_blocking_region) {
    inside([] {
        const pin_to_worker here;
        const pid_t thread = quern_test::os_thread();
        quern::blocking([thread] {
            EXPECT_EQ(quern_test::os_thread(), thread);
            EXPECT_TRUE(this_task::is_task());
        });
    });
}

// Holds: pin_to_worker: On a thread that is no worker it does nothing.
TEST_P(pin_to_worker_test, does_nothing_on_a_thread_outside) {
    const pin_to_worker here;
    EXPECT_EQ(current_worker_rank(), -1);
}

// Holds: pin_to_worker: It does not keep a runtime from ending.
TEST_P(pin_to_worker_test, does_not_keep_a_runtime_from_ending) {
    for (int i = 0; i < 20; ++i) {
        std::atomic<int> ran{0};
        {
            quern::runtime other(
                quern::runtime_options::with_workers(workers(), GetParam().policy));
            for (unsigned k = 0; k < workers(); ++k) {
                quern::post({.worker = static_cast<int>(k), .pool = &other.default_pool().get()},
                            [&ran] {
                                const pin_to_worker here;
                                this_task::sleep_for(100us);
                                this_task::yield();
                                ++ran;
                            });
            }
            other.default_pool().set_active_workers(1);
        }
        EXPECT_EQ(ran.load(), static_cast<int>(workers()));
    }
}

// Holds: pin_to_worker: Destroyed by another task or thread it ends the program.
TEST(pin_to_worker_death_test, ends_the_program_when_somebody_else_destroys_it) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_DEATH(quern::async([] {
                     std::optional<pin_to_worker> here(std::in_place);
                     std::thread([&here] { here.reset(); }).join();
                 }).get(),
                 "did not make it");
}

}  // namespace
