// SPDX-License-Identifier: BSL-1.0
// task_group: exceptions, cancellation, and the check that only the owner waits.
#include <quern/task/fork_join.hpp>
#include <quern/task/task_group.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using quern::task_group;
using quern_test::spin_gate;

class task_group_errors : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(task_group_errors);

// Holds: task_group: wait() throws the first exception that a task threw, once.
TEST_P(task_group_errors, of_a_task_come_out_of_wait) {
    inside([] {
        task_group group;
        group.run([] { throw std::runtime_error("task"); });
        EXPECT_THROW(group.wait(), std::runtime_error);
    });
}

// Holds: task_group: After an exception the group can be used again.
TEST_P(task_group_errors, leave_the_group_usable) {
    inside([] {
        task_group group;
        for (int i = 0; i < 50; ++i) {
            group.run([] { throw std::runtime_error("task"); });
            EXPECT_THROW(group.wait(), std::runtime_error);
            EXPECT_FALSE(group.is_cancelled());
            bool ran = false;
            group.run([&ran] { ran = true; });
            group.wait();
            EXPECT_TRUE(ran);
        }
    });
}

// Holds: task_group: wait() throws the first...
TEST_P(task_group_errors, come_out_once_and_are_those_of_the_first) {
    inside([this] {
        for (int round = 0; round < 50; ++round) {
            task_group group;
            for (int i = 0; i < 20; ++i) {
                group.run([i] { throw i; });
            }
            int thrown = -1;
            try {
                group.wait();
            } catch (int i) {
                thrown = i;
            }
            ASSERT_GE(thrown, 0);
            if (workers() == 1) {  // the first one to run, in the order of the policy
                ASSERT_EQ(thrown, takes_the_youngest_first() ? 19 : 0);
            }
            group.wait();
        }
    });
}

// Holds: task_group: Tasks that have not begun when a task has thrown are dropped.
TEST_P(task_group_errors, cancel_the_tasks_that_have_not_begun) {
    if (workers() != 1) {
        GTEST_SKIP() << "which tasks have begun is left to chance";
    }
    inside([] {
        int ran = 0;
        task_group group;
        for (int i = 0; i < 100; ++i) {
            group.run([&ran] {
                ++ran;
                throw std::runtime_error("task");
            });
        }
        EXPECT_THROW(group.wait(), std::runtime_error);
        EXPECT_EQ(ran, 1);
    });
}

// Holds: task_group: The destructor throws no...
TEST_P(task_group_errors, are_dropped_by_the_destructor) {
    inside([] {
        int after = 0;
        {
            task_group group;
            group.run([&after] {
                quern_test::let_others_run();
                after = 1;
                throw std::runtime_error("task");
            });
        }
        EXPECT_EQ(after, 1);
    });
}

// Holds: task_group: Closures are destroyed when their task has ended or was dropped.
TEST_P(task_group_errors, do_not_keep_what_the_closures_held) {
    auto witness = std::make_shared<int>(0);
    inside([&] {
        task_group group;
        for (int i = 0; i < 100; ++i) {
            group.run([witness] { throw std::runtime_error("task"); });
        }
        EXPECT_THROW(group.wait(), std::runtime_error);
    });
    EXPECT_TRUE(quern_test::eventually([&] { return witness.use_count() == 1; }));
}

// Holds: task_group: The owner may be...
TEST_P(task_group_errors, come_to_a_thread_outside) {
    task_group group(rt.default_pool());
    for (int i = 0; i < 20; ++i) {
        group.run([] { throw std::runtime_error("task"); });
        EXPECT_THROW(group.wait(), std::runtime_error);
    }
}

// Holds: task_group: wait() by another task...
TEST_P(task_group_errors, of_tasks_that_wait_for_their_own_group) {
    const auto refusals = [](task_group& group) {
        std::atomic<int> refused{0};
        for (int i = 0; i < 20; ++i) {
            group.run([&group, &refused] {
                EXPECT_THROW(group.wait(), std::logic_error);
                ++refused;
            });
        }
        group.wait();
        return refused.load();
    };
    inside([&] {  // where the owner runs them in its place
        task_group group;
        EXPECT_EQ(refusals(group), 20);
        task_group bounded(quern::bounded(2));  // where it is aside for them
        EXPECT_EQ(refusals(bounded), 20);
        {
            task_group at_end;
            at_end.run([&at_end] { at_end.wait(); });
        }
    });
    task_group outside(rt.default_pool());
    EXPECT_EQ(refusals(outside), 20);
}

// Holds: task_group: wait() by another task...
TEST_P(task_group_errors, of_tasks_that_run_in_the_place_of_the_owner) {
    inside([] {
        task_group group;
        group.run([] {});
        auto other = quern::async([&group] { group.wait(); });
        EXPECT_THROW(other.get(), std::logic_error);
        group.wait();
    });
}

class cancellation : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(cancellation);

// Holds: task_group: cancel() drops the tasks that have not begun.
TEST_P(cancellation, drops_tasks_that_have_not_begun) {
    inside([this] {
        std::atomic<int> ran{0};
        task_group group;
        if (workers() == 1) {
            for (int i = 0; i < 100; ++i) {
                group.run([&ran] { ran.fetch_add(1); });
            }
        }
        group.cancel();
        EXPECT_TRUE(group.is_cancelled());
        for (int i = 0; i < 100; ++i) {
            group.run([&ran] { ran.fetch_add(1); });
        }
        group.wait();
        EXPECT_EQ(ran.load(), 0);
    });
}

// Holds: task_group: cancel(): running tasks continue.
TEST_P(cancellation, lets_tasks_go_on_that_have_begun) {
    inside([] {
        int done = 0;
        spin_gate begun;
        task_group group;
        group.run([&] {
            begun.open();
            quern_test::let_others_run();
            done = 1;
        });
        while (!begun.is_open()) {
            quern_test::let_others_run();
        }
        group.run([&group] { group.cancel(); });
        group.wait();
        EXPECT_EQ(done, 1);
    });
}

// Holds: task_group: is_cancelled() says so until the next wait() has ended.
TEST_P(cancellation, ends_with_the_next_wait) {
    inside([] {
        task_group group;
        group.cancel();
        group.wait();
        EXPECT_FALSE(group.is_cancelled());
        bool ran = false;
        group.run([&ran] { ran = true; });
        group.wait();
        EXPECT_TRUE(ran);
    });
}

class ownership : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(ownership);

// Holds: task_group: wait() by another task or thread than the owner throws std::logic_error.
TEST_P(ownership, is_required_to_wait_of_tasks) {
    inside([] {
        task_group group;
        auto other = quern::async({.worker = 0}, [&group] { group.wait(); });
        EXPECT_THROW(other.get(), std::logic_error);
    });
    task_group outside(rt.default_pool());
    EXPECT_THROW(inside([&] { outside.wait(); }), std::logic_error);
}

// Holds: task_group: wait() by another task...
TEST_P(ownership, is_required_to_wait_of_threads) {
    inside([] {
        task_group group;
        std::thread([&group] { EXPECT_THROW(group.wait(), std::logic_error); }).join();
    });
    task_group outside(rt.default_pool());
    std::thread([&outside] { EXPECT_THROW(outside.wait(), std::logic_error); }).join();
}

TEST_P(ownership, reaches_onto_a_fresh_stack_of_the_same_task) {
    inside([] {
        struct {
            task_group group;
            std::atomic<int> ran{0};
        } both;
        const auto deeper = [](void* p) {
            auto& here = *static_cast<decltype(both)*>(p);
            here.group.run([&here] { here.ran.fetch_add(1); });
            here.group.run({.stack = quern::stack_class::medium},
                           [&here] { here.ran.fetch_add(1); });
            here.group.wait();
        };
        quern::detail::call_on_fresh_stack(deeper, &both);
        EXPECT_EQ(both.ran.load(), 2);
        both.group.run([&both] { both.ran.fetch_add(1); });
        both.group.wait();
        EXPECT_EQ(both.ran.load(), 3);
    });
}

// Holds: task_group: To destroy a group that another task made aborts.
TEST(ownership_death_test, is_required_to_destroy_a_group) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            quern::runtime rt(quern::runtime_options::with_workers(1));
            auto* group = quern::async(rt, [] { return new task_group; }).get();
            delete group;
        },
        "a task_group was destroyed by a task or thread that did not make it");
    EXPECT_DEATH(
        {
            quern::runtime rt(quern::runtime_options::with_workers(1));
            quern::async(rt, [] {
                auto* group = new task_group;
                group->run([group] { delete group; });  // in the place of its owner
                group->wait();
            }).get();
        },
        "a task_group was destroyed by a task or thread that did not make it");
}

}  // namespace
