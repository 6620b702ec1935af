// SPDX-License-Identifier: BSL-1.0
// Tasks that become ready repeatedly do not starve tasks that are ready once. Case 1: many tasks
// wait in steps so short that a round of all takes longer than a step. Case 2: two tasks wake each
// other. The task that they wait for is below them in the worker's queue.
#include <quern/sync/condition_variable.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/sync/semaphore.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/ready_at.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto k_step = 20us;

class fair_turns_test : public quern_test::on_runtime {
protected:
    /// `give` is the action of a task, `has_come` one step of the others: true once it has
    /// happened.
    template <class Give, class HasCome>
    void all_see(Give give, HasCome has_come) {
        const int waiters = quern_test::scaled(300, 60);
        const auto limit = clock::now() + 20s;  // far above the expected time
        inside([&] {
            auto giver = quern::async(give);
            std::vector<quern::future<bool>> all;
            all.reserve(waiters);
            for (int i = 0; i < waiters; ++i) {
                all.push_back(quern::async([&has_come, limit] {
                    bool done = false;
                    while (!done && clock::now() < limit) {
                        done = has_come();
                    }
                    return done;
                }));
            }
            int seen = 0;
            for (auto& each : all) {
                seen += each.get() ? 1 : 0;
            }
            EXPECT_EQ(seen, waiters);
            giver.get();
        });
    }
};
QUERN_ON_ALL_POLICIES(fair_turns_test);

TEST_P(fair_turns_test, are_left_by_short_waits_for_a_future) {
    quern::promise<void> given;
    auto future = given.get_future().share();
    all_see([&] { given.set_value(); },
            [&] { return future.wait_for(k_step) == std::future_status::ready; });
}

TEST_P(fair_turns_test, are_left_by_short_sleeps) {
    std::atomic<bool> is_set = false;
    all_see([&] { is_set = true; },
            [&] {
                quern::this_task::sleep_for(k_step);
                return is_set.load();
            });
}

TEST_P(fair_turns_test, are_left_by_waits_for_futures_of_a_time) {
    std::atomic<bool> is_set = false;
    all_see([&] { is_set = true; },
            [&] {
                quern::make_ready_future_after(k_step).get();
                return is_set.load();
            });
}

TEST_P(fair_turns_test, are_left_by_short_waits_for_permits) {
    quern::counting_semaphore<> permits(0);
    all_see([&] { permits.release(); },
            [&] {
                const bool got = permits.try_acquire_for(k_step);
                if (got) {
                    permits.release();
                }
                return got;
            });
}

TEST_P(fair_turns_test, are_left_by_short_waits_for_a_condition) {
    quern::mutex shared;
    quern::condition_variable changed;
    bool is_set = false;
    all_see(
        [&] {
            const std::scoped_lock lock(shared);
            is_set = true;
            changed.notify_one();
        },
        [&] {
            std::unique_lock lock(shared);
            return changed.wait_for(lock, k_step, [&] { return is_set; });
        });
}

/// Two tasks that wake each other until it is set. True: it was set in time.
bool wake_each_other_until(const std::atomic<bool>& is_set) {
    const auto limit = clock::now() + 20s;
    quern::counting_semaphore<> left(0);
    quern::counting_semaphore<> right(0);
    const auto play = [&](quern::counting_semaphore<>& own, quern::counting_semaphore<>& other) {
        while (!is_set && clock::now() < limit) {
            other.release();
            own.acquire();
        }
        other.release();
    };
    auto one = quern::async([&] { play(left, right); });
    auto two = quern::async([&] {
        right.acquire();
        play(right, left);
    });
    one.get();
    two.get();
    return is_set;
}

TEST_P(fair_turns_test, are_left_by_two_tasks_that_wake_each_other) {
    inside([] {
        std::atomic<bool> is_set = false;
        auto giver = quern::async([&] { is_set = true; });
        EXPECT_TRUE(wake_each_other_until(is_set));
        giver.get();
    });
}

TEST_P(fair_turns_test, are_left_to_forked_children_by_two_tasks_that_wake_each_other) {
    inside([] {
        std::atomic<bool> is_set = false;
        auto giver = quern::async([&] {
            quern::counting_semaphore<> set(0);
            quern::fork_join([&] { set.acquire(); },
                             [&] {
                                 is_set = true;
                                 set.release();
                             });
        });
        quern::this_task::yield();  // it suspends in the first half
        EXPECT_TRUE(wake_each_other_until(is_set));
        giver.get();
    });
}

}  // namespace
