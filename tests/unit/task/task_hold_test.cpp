// SPDX-License-Identifier: BSL-1.0
// A task of any kind that is held is complete when its function has returned and all holds have
// been dropped, in any order, whichever thread drops the last hold.
#include <quern/task/task_hold.hpp>

#include <quern/task/coroutine.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/task_group.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using quern::task_hold;
using namespace std::chrono_literals;

class task_hold_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(task_hold_test);

/// A thread that drops holds a little later.
class other_side {
public:
    ~other_side() { drop_all(); }
    void take(task_hold hold) {
        const std::scoped_lock lock(m_mutex);
        m_holds.push_back(std::move(hold));
    }
    std::size_t count() {
        const std::scoped_lock lock(m_mutex);
        return m_holds.size();
    }
    void drop_all() {
        std::vector<task_hold> holds;
        {
            const std::scoped_lock lock(m_mutex);
            holds.swap(m_holds);
        }
    }

private:
    std::mutex m_mutex;
    std::vector<task_hold> m_holds;
};

// Holds: task_hold: A future is ready when the function has returned and all holds have been dropped.
TEST_P(task_hold_test, keeps_a_future_from_being_ready) {
    other_side others;
    auto result = quern::async(rt, [&] {
        others.take(quern::this_task::hold());
        return 42;
    });
    ASSERT_TRUE(quern_test::eventually([&] { return others.count() == 1; }));
    EXPECT_EQ(result.wait_for(2ms), std::future_status::timeout);
    others.drop_all();
    EXPECT_EQ(result.get(), 42);
}

// Holds: task_hold: A task that is held takes no worker.
TEST_P(task_hold_test, takes_no_worker) {
    other_side others;
    std::vector<quern::future<void>> held;
    for (int i = 0; i < 50; ++i) {
        held.push_back(quern::async(rt, [&] { others.take(quern::this_task::hold()); }));
    }
    ASSERT_TRUE(quern_test::eventually([&] { return others.count() == 50; }));
    EXPECT_EQ(quern::async(rt, [] { return 1; }).get(), 1);
    others.drop_all();
    for (auto& each : held) {
        each.get();
    }
}

// Holds: task_hold: It can be moved and dropped before the end; a second drop() does nothing.
TEST_P(task_hold_test, that_is_dropped_before_the_end_changes_nothing) {
    EXPECT_EQ(quern::async(rt,
                           [] {
                               task_hold first = quern::this_task::hold();
                               task_hold second = std::move(first);
                               EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move)
                               EXPECT_TRUE(second);
                               second.drop();
                               second.drop();
                               EXPECT_FALSE(second);
                               return 7;
                           })
                  .get(),
              7);
}

// Holds: task_hold: Each hold counts.
TEST_P(task_hold_test, counts_each_hold) {
    other_side others;
    auto result = quern::async(rt, [&] {
        for (int i = 0; i < 3; ++i) {
            others.take(quern::this_task::hold());
        }
        const task_hold own = quern::this_task::hold();
    });
    ASSERT_TRUE(quern_test::eventually([&] { return others.count() == 3; }));
    EXPECT_EQ(result.wait_for(1ms), std::future_status::timeout);
    others.drop_all();
    result.get();
}

// Holds: task_hold: A group waits for the holds on its tasks.
TEST_P(task_hold_test, keeps_a_group_waiting) {
    std::atomic<bool> dropped{false};
    std::thread dropper;
    inside([&] {
        quern::task_group group;
        for (int i = 0; i < 4; ++i) {
            group.run([&, i] {
                if (i == 2) {
                    dropper = std::thread([&dropped, own = quern::this_task::hold()]() mutable {
                        std::this_thread::sleep_for(2ms);
                        dropped.store(true);
                        own.drop();
                    });
                }
            });
        }
        group.wait();
        EXPECT_TRUE(dropped.load());
    });
    dropper.join();
}

// Holds: task_hold: A continuation begins when no hold is left.
TEST_P(task_hold_test, keeps_what_follows_waiting) {
    std::atomic<bool> dropped{false};
    std::thread dropper;
    auto chain = quern::async(rt, [&] {
                     dropper = std::thread([&dropped, own = quern::this_task::hold()]() mutable {
                         std::this_thread::sleep_for(2ms);
                         dropped.store(true);
                         own.drop();
                     });
                     return 1;
                 }).then([&](quern::future<int> before) {
        EXPECT_TRUE(dropped.load());
        return before.get() + 1;
    });
    EXPECT_EQ(chain.get(), 2);
    dropper.join();
}

// Holds: task_hold: An exception of the function is seen when no hold is left.
TEST_P(task_hold_test, lets_an_exception_out_when_it_is_dropped) {
    other_side others;
    auto result = quern::async(rt, [&]() -> int {
        others.take(quern::this_task::hold());
        throw std::runtime_error("from a held task");
    });
    ASSERT_TRUE(quern_test::eventually([&] { return others.count() == 1; }));
    EXPECT_EQ(result.wait_for(1ms), std::future_status::timeout);
    others.drop_all();
    EXPECT_THROW(result.get(), std::runtime_error);
}

// Holds: task_hold: A hold of a forked child holds the join, or the parent that runs it itself.
TEST_P(task_hold_test, of_a_forked_child_holds_the_task_that_runs_it) {
    std::atomic<int> dropped{0};
    inside([&] {
        const auto held = [&] {
            quern::post([&dropped, own = std::make_shared<task_hold>(quern::this_task::hold())] {
                dropped.fetch_add(1);
                own->drop();
            });
        };
        quern::fork_join(held, held);
    });
    EXPECT_EQ(dropped.load(), 2);
}

// Holds: task_hold: Holds may be dropped by any thread, also those of tasks that were posted.
TEST_P(task_hold_test, of_posted_tasks_lets_the_runtime_end_only_after_it) {
    std::atomic<int> ended{0};
    std::vector<std::thread> threads(8);
    {
        auto second =
            std::make_unique<quern::runtime>(quern::runtime_options::with_workers(workers()));
        std::atomic<int> begun{0};
        for (auto& each : threads) {
            quern::post({.pool = &second->default_pool().get()}, [&] {
                each = std::thread([&ended, own = quern::this_task::hold()]() mutable {
                    std::this_thread::sleep_for(1ms);
                    ended.fetch_add(1);
                    own.drop();
                });
                begun.fetch_add(1);
            });
        }
        ASSERT_TRUE(quern_test::eventually([&] { return begun.load() == 8; }));
        for (auto& each : threads) {
            each.join();
        }
    }
    EXPECT_EQ(ended.load(), 8);
}

TEST_P(task_hold_test, is_dropped_by_tasks_that_race_with_the_end) {
    std::vector<quern::future<int>> results;
    for (int i = 0; i < quern_test::scaled(2'000, 300); ++i) {
        results.push_back(quern::async(rt, [i] {
            for (int k = 0; k < i % 3; ++k) {
                quern::post(
                    [own = std::make_shared<task_hold>(quern::this_task::hold())] { own->drop(); });
            }
            return i;
        }));
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
        ASSERT_EQ(results[i].get(), static_cast<int>(i));
    }
}

// Holds: task_hold: hold() throws std::logic_error on a thread and in a coroutine.
TEST(task_hold, is_refused_outside_of_tasks_and_in_coroutines) {
    std::string error;
    try {
        quern::this_task::hold();
    } catch (const std::logic_error& refused) {
        error = refused.what();
    }
    EXPECT_NE(error.find("by a thread, not by a task"), std::string::npos) << error;

    const auto coroutine = []() -> quern::task<bool> {
        try {
            quern::this_task::hold();
        } catch (const std::logic_error& refused) {
            co_return std::string(refused.what()).find("co_await") != std::string::npos;
        }
        co_return false;
    };
    EXPECT_TRUE(quern::start(coroutine()).get());
}

}  // namespace
