// SPDX-License-Identifier: BSL-1.0
// The number of active workers changes while a pool runs: the others take no work, the rest do
// theirs, and they return.
#include "on_runtime.hpp"

#include <quern/task/promise.hpp>

#include <algorithm>
#include <set>
#include <vector>

namespace {

using quern_test::eventually;
using quern_test::spin_gate;

class throttle_test : public quern_test::on_runtime {
protected:
    quern::pool_ref pool() const { return rt.default_pool(); }

    /// The ranks that run a number of short tasks from outside.
    std::set<int> ranks_of(int tasks) {
        std::vector<quern::future<int>> all;
        for (int i = 0; i < tasks; ++i) {
            all.push_back(quern::async(rt, [] {
                quern_test::spin_for(std::chrono::microseconds(20));
                return quern::current_worker_rank();
            }));
        }
        std::set<int> ranks;
        for (auto& f : all) {
            ranks.insert(f.get());
        }
        return ranks;
    }

    /// Whether that many tasks can run at the same time.
    bool can_run_at_once(unsigned tasks) {
        std::atomic<unsigned> begun{0};
        std::vector<quern::future<bool>> all;
        for (unsigned i = 0; i < tasks; ++i) {
            all.push_back(quern::async(rt, [&begun, tasks] {
                begun.fetch_add(1);
                return eventually([&] { return begun.load() == tasks; });
            }));
        }
        return std::all_of(all.begin(), all.end(), [](auto& f) { return f.get(); });
    }
};
QUERN_ON_ALL_POLICIES(throttle_test);

// Holds: pool_ref: set_active_workers() clamps the number to 1..workers() and returns what was set;
//     active_workers() says it.
TEST_P(throttle_test, stays_between_one_and_all_workers) {
    EXPECT_EQ(pool().set_active_workers(0), 1U);
    EXPECT_EQ(pool().active_workers(), 1U);
    EXPECT_EQ(pool().set_active_workers(1000), workers());
    EXPECT_EQ(pool().active_workers(), workers());
}

// Holds: pool_ref: set_active_workers(): the workers above the number sleep after their present
//     task.
TEST_P(throttle_test, leaves_parked_ranks_without_tasks) {
    for (unsigned active = 1; active <= workers(); active *= 2) {
        pool().set_active_workers(active);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        const std::set<int> ranks = ranks_of(300);
        EXPECT_LT(*ranks.rbegin(), static_cast<int>(active));
    }
}

// Holds: pool_ref: set_active_workers(): the workers above...
TEST_P(throttle_test, takes_hold_of_busy_workers_after_their_present_task) {
    if (workers() == 1) {
        GTEST_SKIP() << "one worker is always active";
    }
    struct {
        std::atomic<bool> stop{false};
        std::atomic<bool> lowered{false};
        std::atomic<int> late{0};  // tasks that ranks above 0 have begun since
    } shared;
    // A task that restarts itself when it ends.
    struct spinner {
        decltype(shared)& all;
        void operator()(quern::promise<void> ended) const {
            if (all.lowered.load() && quern::current_worker_rank() > 0) {
                all.late.fetch_add(1);
            }
            quern_test::spin_for(std::chrono::microseconds(50));
            if (all.stop.load()) {
                ended.set_value();
            } else {
                quern::post(*this, std::move(ended));
            }
        }
    };
    std::vector<quern::future<void>> ended;
    for (unsigned i = 0; i < workers(); ++i) {
        quern::promise<void> p;
        ended.push_back(p.get_future());
        quern::post({.pool = &pool().get()}, spinner{shared}, std::move(p));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    pool().set_active_workers(1);
    // A task may have begun just before; preempted workers need a moment longer.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    shared.lowered.store(true);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(shared.late.load(), 0);
    shared.stop.store(true);
    for (auto& f : ended) {
        f.get();
    }
}

// Holds: pool_ref: set_active_workers(): workers come back when the number is raised.
TEST_P(throttle_test, brings_workers_back) {
    for (int round = 0; round < 5; ++round) {
        pool().set_active_workers(1);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        EXPECT_EQ(ranks_of(20), std::set<int>{0});
        pool().set_active_workers(workers());
        EXPECT_TRUE(can_run_at_once(workers()));
    }
}

// Holds: pool_ref: set_active_workers(): workers come back...
TEST_P(throttle_test, brings_back_workers_that_have_been_asleep_for_a_while) {
    pool().set_active_workers(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pool().set_active_workers(workers());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(can_run_at_once(workers()));
}

// Holds: pool_ref: set_active_workers(): queued work of workers that sleep is taken by the rest.
TEST_P(throttle_test, leaves_queued_work_to_the_others) {
    std::vector<int> runs(200, 0);
    const int last = static_cast<int>(workers()) - 1;
    spin_gate release, held;
    auto holder = quern::async({.worker = last, .pool = &pool().get()}, [&] {
        held.open();
        std::vector<quern::future<void>> mine;  // in the queue of the worker that runs this
        for (std::size_t i = 0; i < 100; ++i) {
            mine.push_back(quern::async([&r = runs[i]] { ++r; }));
        }
        release.pass();
        return mine;
    });
    held.pass();
    pool().set_active_workers(1);
    std::vector<quern::future<void>> hinted;
    for (std::size_t i = 100; i < 200; ++i) {
        hinted.push_back(
            quern::async({.worker = last, .pool = &pool().get()}, [&r = runs[i]] { ++r; }));
    }
    release.open();
    for (auto& f : holder.get()) {
        f.get();
    }
    for (auto& f : hinted) {
        f.get();
    }
    EXPECT_EQ(runs, std::vector<int>(200, 1));
}

// Holds: pool_ref: A task may call set_active_workers().
TEST_P(throttle_test, may_be_changed_by_a_task) {
    inside([this] {
        for (unsigned n = workers(); n > 0; --n) {
            EXPECT_EQ(quern::current_pool().set_active_workers(n), n);
            auto f = quern::async([n] { return n; });
            EXPECT_EQ(f.get(), n);
        }
        quern::current_pool().set_active_workers(workers());
    });
    EXPECT_TRUE(can_run_at_once(workers()));
}

TEST_P(throttle_test, does_not_keep_a_runtime_from_ending) {
    for (int i = 0; i < 20; ++i) {
        quern::runtime other(quern::runtime_options::with_workers(workers(), GetParam().policy));
        other.default_pool().set_active_workers(1);
        quern::post({.pool = &other.default_pool().get()}, [] {});
    }
}

}  // namespace
