// SPDX-License-Identifier: BSL-1.0
// Scheduling policies: their names, and what holds under each. Orders: policy_orders_test.cpp.
#include <quern/scheduler/policy.hpp>

#include "on_runtime.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace {

using quern::find_scheduling_policy;
using quern::scheduling_policies;

// Holds: scheduling policies: The first one is the default, work-stealing.
TEST(scheduling_policy_names, begin_with_the_default) {
    ASSERT_GE(scheduling_policies().size(), 2U);
    EXPECT_EQ(scheduling_policies().front().name, "work-stealing");
    EXPECT_EQ(quern::runtime().default_pool().policy(), "work-stealing");
}

// Holds: scheduling policies: Each is found by its name and has a summary.
TEST(scheduling_policy_names, are_found) {
    for (const quern::scheduling_policy& policy : scheduling_policies()) {
        EXPECT_EQ(&find_scheduling_policy(policy.name), &policy);
        EXPECT_FALSE(policy.summary.empty());
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

// Holds: scheduling policies: An unknown name is std::invalid_argument that names the known ones
//     and the nearest match.
TEST(scheduling_policy_names, that_are_unknown_are_errors_with_the_nearest_match) {
    const std::string text = error_of("work-staeling");
    EXPECT_NE(text.find("'work-staeling'"), std::string::npos) << text;
    EXPECT_NE(text.find("did you mean 'work-stealing'?"), std::string::npos) << text;
    for (const quern::scheduling_policy& policy : scheduling_policies()) {
        EXPECT_NE(text.find(policy.name), std::string::npos) << text;
    }
    EXPECT_NE(error_of("priority-local").find("did you mean 'priority-local-fifo'?"),
              std::string::npos);
    EXPECT_NE(error_of("sherwod").find("did you mean 'sherwood'?"), std::string::npos);
    EXPECT_EQ(error_of("round").find("did you mean"), std::string::npos);
    EXPECT_NE(error_of(""), "");
}

class every_policy : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(every_policy);

// Holds: scheduling policies: Under every policy every task is run once.
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

// Holds: scheduling policies: Under every policy all workers get work.
TEST_P(every_policy, keeps_all_workers_busy) {
    if (std::string(GetParam().policy) == "static") {
        GTEST_SKIP() << "what a task makes stays with its worker";
    }
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
