// SPDX-License-Identifier: BSL-1.0
// Tasks that their waiter runs: their entries leave the queues, so memory does not grow, and they
// are counted where and when they ran. Under all policies, in any order.
#include <quern/base/detail/blocks.hpp>
#include <quern/task/async.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int k_tasks = quern_test::scaled(20'000, 2'000);
/// Entries that may be in the queues although their tasks have run.
constexpr int k_few = 130;

std::atomic<int> g_results{0};

/// Part of the state of its future until the last reference to the state is dropped.
struct counted_result {
    counted_result() noexcept { ++g_results; }
    counted_result(const counted_result&) noexcept { ++g_results; }
    counted_result& operator=(const counted_result&) = default;
    ~counted_result() { --g_results; }
};

enum class order { oldest_first, youngest_first, shuffled };

void put_in_order(std::vector<quern::future<counted_result>>& all, order how) {
    if (how == order::youngest_first) {
        std::reverse(all.begin(), all.end());
    } else if (how == order::shuffled) {
        std::shuffle(all.begin(), all.end(), std::minstd_rand(7));
    }
}

struct waited_for_case {
    std::string policy;
    order how;
    quern::priority urgency;
};

class waited_for_test : public ::testing::TestWithParam<waited_for_case> {
protected:
    void make_and_get() const {
        std::vector<quern::future<counted_result>> all;
        for (int i = 0; i < k_tasks; ++i) {
            all.push_back(
                quern::async({.urgency = GetParam().urgency}, [] { return counted_result{}; }));
        }
        put_in_order(all, GetParam().how);
        for (auto& each : all) {
            each.get();
        }
    }
};

// Holds: async: A task that its waiter runs leaves its queue, in whatever order tasks are waited
//     for: memory does not grow with the tasks that have ended.
TEST_P(waited_for_test, leaves_no_entry_behind) {
    quern::runtime rt(quern::runtime_options::with_workers(1, GetParam().policy));
    std::size_t held_after_two = 0;
    quern::async(rt, [&] {
        for (int round = 1; round <= 8; ++round) {
            make_and_get();
            EXPECT_LE(g_results.load(), k_few) << "round " << round;
            const std::size_t held = quern::detail::read_block_totals().held;
            held_after_two = round == 2 ? held : held_after_two;
            EXPECT_TRUE(round < 2 || held == held_after_two) << "round " << round;
        }
    }).get();
    rt.default_pool().get().wait_until_quiet();
    EXPECT_EQ(g_results.load(), 0);
}

// Holds: async: A task that its waiter runs is counted where and when it ran, as inlined.
TEST_P(waited_for_test, is_counted_when_it_has_run_and_as_inlined) {
    quern::runtime rt(quern::runtime_options::with_workers(1, GetParam().policy));
    quern::async(rt, [&] {
        const auto before = rt.totals();
        make_and_get();
        auto made = rt.totals();
        made -= before;
        EXPECT_EQ(made.tasks, std::uint64_t{k_tasks});
        EXPECT_EQ(made.inlined, std::uint64_t{k_tasks});
        EXPECT_EQ(made.activations, std::uint64_t{k_tasks});
    }).get();
    rt.default_pool().get().wait_until_quiet();
    EXPECT_EQ(rt.totals().tasks, std::uint64_t{k_tasks + 1}) << "an empty entry was counted";
    EXPECT_EQ(rt.totals().activations, std::uint64_t{k_tasks + 1});
}

// Holds: async: A task is not run in the place of its waiter while a more urgent one is ready.
TEST_P(waited_for_test, begins_after_a_more_urgent_one) {
    quern::runtime rt(quern::runtime_options::with_workers(1, GetParam().policy));
    for (const std::int16_t rank : {std::int16_t{0}, std::int16_t{1}}) {
        if (rank == 0 && GetParam().urgency == quern::priority::high) {
            continue;  // only a rank is before these
        }
        std::vector<int> begun;
        quern::async(rt, [&] {
            std::vector<quern::future<counted_result>> all;
            for (int i = 0; i < 100; ++i) {
                all.push_back(quern::async({.urgency = GetParam().urgency}, [&begun] {
                    begun.push_back(0);
                    return counted_result{};
                }));
            }
            auto urgent = quern::async({.urgency = quern::priority::high, .rank = rank},
                                       [&begun] { begun.push_back(1); });
            put_in_order(all, GetParam().how);
            for (auto& each : all) {
                each.get();
            }
            urgent.get();
        }).get();
        EXPECT_EQ(begun.front(), 1) << "rank " << rank;
        EXPECT_EQ(begun.size(), 101U);
    }
}

// Holds: async: A task gets the place of its waiter, if that is more urgent.
TEST_P(waited_for_test, begins_at_once_for_a_waiter_that_is_as_urgent) {
    quern::runtime rt(quern::runtime_options::with_workers(1, GetParam().policy));
    std::vector<int> begun;
    const quern::task_attributes urgent{.urgency = quern::priority::high,
                                        .pool = &rt.default_pool().get()};
    quern::async(urgent, [&] {
        auto child =
            quern::async({.urgency = GetParam().urgency}, [&begun] { begun.push_back(0); });
        auto other = quern::async(urgent, [&begun] { begun.push_back(1); });
        child.get();
        other.get();
    }).get();
    EXPECT_EQ(begun, (std::vector<int>{0, 1}));
}

// Holds: async: A task that its waiter runs is...
TEST_P(waited_for_test, is_counted_once_with_several_workers) {
    quern::runtime rt(quern::runtime_options::with_workers(3, GetParam().policy));
    quern::async(rt, [&] {
        for (int round = 0; round < 3; ++round) {
            make_and_get();
        }
    }).get();
    rt.default_pool().get().wait_until_quiet();
    EXPECT_EQ(rt.totals().tasks, std::uint64_t{3 * k_tasks + 1});
    EXPECT_EQ(g_results.load(), 0);
}

std::vector<waited_for_case> all_cases() {
    std::vector<waited_for_case> cases;
    for (const auto& policy : quern::scheduling_policies()) {
        const std::string name(policy.name);
        for (const order how : {order::oldest_first, order::youngest_first, order::shuffled}) {
            cases.push_back({name, how, quern::priority::normal});
        }
        cases.push_back({name, order::shuffled, quern::priority::high});
        cases.push_back({name, order::youngest_first, quern::priority::low});
    }
    return cases;
}

std::string name_of_case(const ::testing::TestParamInfo<waited_for_case>& info) {
    constexpr const char* k_orders[] = {"oldest_first", "youngest_first", "shuffled"};
    constexpr const char* k_urgencies[] = {"low", "normal", "high"};
    std::string name = info.param.policy + "_" + k_orders[static_cast<int>(info.param.how)] + "_" +
                       k_urgencies[static_cast<int>(info.param.urgency)];
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(policies, waited_for_test, ::testing::ValuesIn(all_cases()), name_of_case);

/// Thieves find entries of tasks that their waiters have begun.
// Holds: async: A task that its waiter runs leaves...
TEST(waited_for_elsewhere, entries_in_the_queues_of_other_workers_go_too) {
    quern::runtime rt(quern::runtime_options::with_workers(2, "nemesis"));
    quern::async(rt, [&] {
        for (int round = 0; round < 4; ++round) {
            std::vector<quern::future<counted_result>> all;
            for (int i = 0; i < k_tasks; ++i) {
                all.push_back(quern::async([] { return counted_result{}; }));
            }
            std::reverse(all.begin(), all.end());
            for (auto& each : all) {
                each.get();
            }
        }
    }).get();
    rt.default_pool().get().wait_until_quiet();
    EXPECT_EQ(g_results.load(), 0);
    EXPECT_EQ(rt.totals().tasks, std::uint64_t{4 * k_tasks + 1});
}

}  // namespace
