// SPDX-License-Identifier: BSL-1.0
// Priorities and hints: in which order one worker takes tasks, and which worker gets a hinted task.
#include "on_runtime.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace {

using quern::post;
using quern::priority;
using quern_test::spin_gate;

class priorities_on_one_worker : public testing::TestWithParam<quern_test::setting> {
protected:
    /// Holds the worker while `start` makes tasks, from outside or as a task; then lets all run.
    template <class Start>
    void run_held(bool from_outside, Start&& start) {
        if (from_outside) {
            spin_gate begun, go;
            auto holder = quern::async(rt, [&] {
                begun.open();
                go.pass();
            });
            begun.pass();
            start();
            go.open();
            holder.get();
        } else {
            quern::async(rt, std::forward<Start>(start)).get();
        }
        ASSERT_TRUE(quern_test::eventually([&] { return count.load() == 300; }));
    }

    auto starter() {
        return [this] {
            for (int i = 0; i < 100; ++i) {
                for (const priority p : {priority::low, priority::normal, priority::high}) {
                    post({.urgency = p, .pool = &rt.default_pool().get()}, [this, p] {
                        order.push_back(p);
                        count.fetch_add(1);
                    });
                }
            }
        };
    }

    std::size_t last(priority p) const {
        const auto found = std::find(order.rbegin(), order.rend(), p);
        return static_cast<std::size_t>(order.rend() - found) - 1;
    }
    std::size_t first(priority p) const {
        return static_cast<std::size_t>(std::find(order.begin(), order.end(), p) - order.begin());
    }

    std::atomic<int> count{0};
    std::vector<priority> order;  ///< written by the one worker
    quern::runtime rt{quern::runtime_options::with_workers(1, GetParam().policy)};
};

INSTANTIATE_TEST_SUITE_P(on, priorities_on_one_worker, testing::ValuesIn([] {
                             std::vector<quern_test::setting> on_one;
                             for (const auto& policy : quern::scheduling_policies()) {
                                 on_one.push_back({1, policy.name.data()});
                             }
                             return on_one;
                         }()),
                         quern_test::name_of_setting);

// Holds: task_attributes: urgency: high before normal before low, from every source.
TEST_P(priorities_on_one_worker, of_tasks_that_a_task_starts) {
    run_held(false, starter());
    EXPECT_LT(last(priority::high), first(priority::normal));
    EXPECT_LT(last(priority::normal), first(priority::low));
}

// Holds: task_attributes: urgency: high before normal...
TEST_P(priorities_on_one_worker, of_tasks_from_outside) {
    run_held(true, starter());
    EXPECT_LT(last(priority::high), first(priority::normal));
    EXPECT_LT(last(priority::normal), first(priority::low));
}

class priorities_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(priorities_test);

// Holds: task_attributes: urgency: tasks of every priority are run in the end.
TEST_P(priorities_test, of_all_kinds_are_run_in_the_end) {
    std::vector<int> runs(3'000, 0);
    inside([&] {
        std::vector<quern::future<void>> all;
        for (std::size_t i = 0; i < runs.size(); ++i) {
            all.push_back(
                quern::async({.urgency = static_cast<priority>(i % 3)}, [&r = runs[i]] { ++r; }));
        }
        for (auto& f : all) {
            f.get();
        }
    });
    EXPECT_EQ(runs, std::vector<int>(3'000, 1));
}

/// A task that starts the next one of its kind until it is told to stop.
void run_for_ever(const std::atomic<bool>& stop, std::atomic<int>& running) {
    if (stop.load()) {
        running.fetch_sub(1);
        return;
    }
    post({.urgency = priority::high}, [&] { run_for_ever(stop, running); });
}

// Holds: task_attributes: urgency: no priority starves another one for ever.
TEST_P(priorities_test, that_are_high_do_not_starve_the_others_for_ever) {
    inside([this] {
        std::atomic<bool> stop{false};
        std::atomic<int> running{static_cast<int>(2 * workers())};
        const int chains = running.load();
        for (int i = 0; i < chains; ++i) {
            post({.urgency = priority::high}, [&] { run_for_ever(stop, running); });
        }
        auto low = quern::async({.urgency = priority::low, .stack = quern::stack_class::medium},
                                [] { return 1; });
        auto normal = quern::async({.stack = quern::stack_class::medium}, [] { return 2; });
        EXPECT_EQ(low.get() + normal.get(), 3);
        stop.store(true);
        while (running.load() != 0) {
            quern_test::let_others_run();
        }
    });
}

// Holds: task_attributes: urgency: tasks of low priority run when nothing else is ready.
TEST_P(priorities_test, of_low_rank_run_when_nothing_else_is_ready) {
    auto low = quern::async({.urgency = priority::low, .pool = &rt.default_pool().get()},
                            [] { return 7; });
    EXPECT_EQ(low.get(), 7);
}

class hints_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(hints_test);

// Holds: task_attributes: worker: a hint: an...
TEST_P(hints_test, are_only_hints_so_every_task_runs) {
    std::vector<int> runs(1'000, 0);
    std::vector<quern::future<void>> all;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        all.push_back(
            quern::async({.worker = static_cast<int>(i % 16), .pool = &rt.default_pool().get()},
                         [&r = runs[i]] { ++r; }));
    }
    for (auto& f : all) {
        f.get();
    }
    EXPECT_EQ(runs, std::vector<int>(1'000, 1));
}

// Holds: task_attributes: worker: the task goes to the queue of that worker.
TEST_P(hints_test, bring_a_task_to_its_worker_when_no_other_is_idle) {
    // Every worker is held by a task; only the hinted one is released.
    const auto n = static_cast<int>(workers());
    std::vector<spin_gate> release(workers());
    std::atomic<int> held{0};
    std::vector<quern::future<void>> holders;
    for (int i = 0; i < n; ++i) {
        holders.push_back(quern::async(rt, [&] {
            held.fetch_add(1);
            release[static_cast<std::size_t>(quern::current_worker_rank())].pass();
        }));
    }
    ASSERT_TRUE(quern_test::eventually([&] { return held.load() == n; }));
    auto where = quern::async({.worker = n - 1, .pool = &rt.default_pool().get()},
                              [] { return quern::current_worker_rank(); });
    release.back().open();
    EXPECT_EQ(where.get(), n - 1);
    for (spin_gate& d : release) {
        d.open();
    }
    for (auto& f : holders) {
        f.get();
    }
}

// Holds: task_attributes: worker: a hint: an idle worker may take it, and a rank that there is not
//     is no error.
TEST_P(hints_test, let_an_idle_worker_help_out) {
    if (!has_thieves()) {
        GTEST_SKIP() << "needs an idle worker that may take the task";
    }
    spin_gate release, held;
    auto holder = quern::async({.worker = 0, .pool = &rt.default_pool().get()}, [&] {
        held.open();
        release.pass();
        return quern::current_worker_rank();
    });
    held.pass();
    for (int rank = 0; rank < static_cast<int>(workers()); ++rank) {  // one of them is busy
        auto f = quern::async({.worker = rank, .pool = &rt.default_pool().get()}, [] {});
        f.get();
    }
    release.open();
    holder.get();
}

}  // namespace
