// SPDX-License-Identifier: BSL-1.0
// Scheduling policies: their names, and in which order a single worker takes what is ready.
#include <quern/scheduler/policy.hpp>

#include "on_runtime.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace {

using quern::find_scheduling_policy;
using quern::scheduling_policies;

TEST(scheduling_policy_names, begin_with_the_default) {
    ASSERT_GE(scheduling_policies().size(), 2U);
    EXPECT_EQ(scheduling_policies().front()->name, "work-stealing");
    EXPECT_EQ(quern::runtime().default_pool().policy(), "work-stealing");
}

TEST(scheduling_policy_names, are_found) {
    for (const quern::scheduling_policy* policy : scheduling_policies()) {
        EXPECT_EQ(&find_scheduling_policy(policy->name), policy);
        EXPECT_FALSE(policy->summary.empty());
    }
}

std::string error_of(const std::string& name) {
    try {
        const quern::runtime rt(quern::runtime_options::with_workers(1, name));
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "";
}

TEST(scheduling_policy_names, that_are_unknown_are_errors_with_the_nearest_match) {
    const std::string text = error_of("work-staeling");
    EXPECT_NE(text.find("'work-staeling'"), std::string::npos) << text;
    EXPECT_NE(text.find("did you mean 'work-stealing'?"), std::string::npos) << text;
    for (const quern::scheduling_policy* policy : scheduling_policies()) {
        EXPECT_NE(text.find(policy->name), std::string::npos) << text;
    }
    EXPECT_NE(error_of("priority-local").find("did you mean 'priority-local-fifo'?"),
              std::string::npos);
    EXPECT_EQ(error_of("round").find("did you mean"), std::string::npos);
    EXPECT_NE(error_of(""), "");
}

/// The order in which one worker runs five tasks that one task has started, then waited.
std::vector<int> order_of_tasks(const char* policy) {
    quern::runtime rt(quern::runtime_options::with_workers(1, policy));
    std::vector<int> order;
    quern::async(rt, [&order] {
        std::vector<quern::future<void>> all;
        for (int i = 0; i < 5; ++i) {
            all.push_back(quern::async([&order, i] { order.push_back(i); }));
        }
        quern_test::let_others_run();
    }).get();
    return order;
}

TEST(work_stealing, takes_the_youngest_first_at_home) {
    EXPECT_EQ(order_of_tasks("work-stealing"), (std::vector{4, 3, 2, 1, 0}));
}

TEST(priority_local_fifo, takes_the_oldest_first) {
    EXPECT_EQ(order_of_tasks("priority-local-fifo"), (std::vector{0, 1, 2, 3, 4}));
}

TEST(priority_local_fifo, takes_resumed_tasks_before_new_ones) {
    quern::runtime rt(quern::runtime_options::with_workers(1, "priority-local-fifo"));
    std::vector<std::string> order;
    quern_test::waiting_room room;
    auto first = quern::async(rt, [&] {
        room.wait();
        order.emplace_back("resumed");
    });
    quern::future<void> other;
    quern::async(rt, [&] {
        other = quern::async([&] { order.emplace_back("new"); });
        room.resume_all();
    }).get();
    first.get();
    other.get();
    EXPECT_EQ(order, (std::vector<std::string>{"resumed", "new"}));
}

/// What the other worker takes first from one that holds 0, 1, 2 in this order of making.
int first_stolen(const char* policy) {
    quern::runtime rt(quern::runtime_options::with_workers(2, policy));
    std::atomic<int> first{-1};
    quern::async(rt, [&first, &rt] {
        quern_test::door full, taken;
        // Occupies the other worker until the queue holds three tasks.
        quern_test::door occupied;
        auto other = quern::async([&] {
            occupied.open();
            full.pass();
        });
        occupied.pass();
        std::vector<quern::future<void>> all;
        for (int i = 0; i < 3; ++i) {
            all.push_back(quern::async([&first, &taken, i] {
                int none = -1;
                first.compare_exchange_strong(none, i);
                taken.open();
            }));
        }
        full.open();
        taken.pass();  // this worker stays here meanwhile
        for (auto& f : all) {
            f.wait();
        }
        other.wait();
        (void)rt;
    }).get();
    return first;
}

TEST(work_stealing, gives_thieves_the_oldest) { EXPECT_EQ(first_stolen("work-stealing"), 0); }
TEST(priority_local_fifo, gives_thieves_the_oldest) {
    EXPECT_EQ(first_stolen("priority-local-fifo"), 0);
}

class every_policy : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(every_policy);

TEST_P(every_policy, runs_every_task_once) {
    static constexpr std::size_t k_tasks = 2'000;
    std::vector<int> runs(2 * k_tasks, 0);
    inside([&] {
        std::vector<quern::future<void>> all;
        for (std::size_t i = 0; i < k_tasks; ++i) {
            all.push_back(quern::async([&runs, i] {
                ++runs[i];
                quern::async([&runs, i] { ++runs[k_tasks + i]; }).get();
            }));
        }
        for (auto& f : all) {
            f.get();
        }
    });
    EXPECT_EQ(runs, std::vector<int>(2 * k_tasks, 1));
}

TEST_P(every_policy, keeps_all_workers_busy) {
    // As many tasks as workers, none of which ends before all have begun.
    std::atomic<unsigned> begun{0};
    inside([&] {
        std::vector<quern::future<void>> all;
        for (unsigned i = 0; i + 1 < workers(); ++i) {
            all.push_back(quern::async([&] {
                begun.fetch_add(1);
                while (begun.load() != workers()) {
                    std::this_thread::yield();
                }
            }));
        }
        begun.fetch_add(1);
        while (begun.load() != workers()) {
            std::this_thread::yield();
        }
        for (auto& f : all) {
            f.get();
        }
    });
    EXPECT_EQ(begun.load(), workers());
}

}  // namespace
