// SPDX-License-Identifier: BSL-1.0
// Policies and knobs: clamping, the log, the modes, one owner at a time, and the program's own
// values.
#include "unit/adaptation/on_workers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using quern::adaptation::decision;
using quern::adaptation::every;
using quern::adaptation::on;
using quern::adaptation::policy_context;
using quern::adaptation::policy_handle;
using quern::adaptation::policy_options;
using quern::trace::custom_event;
using quern_test::decisions_of;
using quern_test::eventually;
using quern_test::k_patient;
using quern_test::message_of;
using quern_test::with_mode;

constexpr custom_event k_step("step");

class policy_knobs_test : public quern_test::on_workers {};
QUERN_ON_WORKERS(policy_knobs_test);

// Holds: policy: set() clamps, applies and logs the value, with the counters read in this call.
TEST_P(policy_knobs_test, sets_knobs_and_says_why) {
    const quern::runtime rt(options());
    std::atomic<bool> is_done{false};
    const policy_handle kept = every(
        1ms, "sets",
        [&](policy_context& now) {
            now.counter("/threadqueue/length");
            now.add_input("load 3");
            EXPECT_EQ(now.set("steal-batch", 1'000'000, "to see the limit"), 4096U);
            EXPECT_EQ(now.get("steal-batch"), 4096U);
            EXPECT_EQ(now.set("active-workers", 1'000'000, "all"), GetParam());
            is_done = true;
            now.stop();
        },
        k_patient);
    ASSERT_TRUE(eventually([&] { return is_done && !decisions_of("sets").empty(); }));
    const decision first = decisions_of("sets").front();
    EXPECT_EQ(
        quern::adaptation::text_of(first),
        "sets: steal-batch 0 -> 4096 tasks: to see the limit [/threadqueue/length 0, load 3]");
    EXPECT_EQ(rt.default_pool().knob("steal-batch"), 4096U);
    EXPECT_TRUE(first.applied);
}

// Holds: policy: set_trial() marks its decision as a trial; the set() that keeps the value is
// logged, once.
TEST_P(policy_knobs_test, marks_trials) {
    for (const char* const mode : {"on", "dry-run"}) {
        const with_mode may(mode);
        const quern::runtime rt(options());
        const std::string name = "tries " + std::string(mode) + std::to_string(GetParam());
        std::atomic<int> calls{0};
        policy_handle kept = every(
            1ms, name,
            [&](policy_context& now) {
                if (++calls <= 3) {
                    now.set_trial("spin-us", 7, "a trial");
                } else {
                    now.set("spin-us", now.get("spin-us"), "the best");
                }
            },
            k_patient);
        ASSERT_TRUE(eventually([&] { return calls >= 7; }));
        kept.stop();
        const auto logged = decisions_of(name);
        ASSERT_EQ(logged.size(), 2U) << mode;
        EXPECT_TRUE(logged.front().is_trial);
        EXPECT_EQ(logged.front().after, 7);
        EXPECT_FALSE(logged.back().is_trial);
        EXPECT_EQ(logged.back().after, logged.back().before);
        EXPECT_EQ(logged.back().why, "the best");
        EXPECT_EQ(logged.back().applied, std::string(mode) == "on");
    }
}

// Holds: policy: In mode dry-run a decision is logged as not applied, once for each value, and no
// knob changes.
TEST_P(policy_knobs_test, changes_nothing_in_a_dry_run) {
    const with_mode dry("dry-run");
    const quern::runtime rt(options());
    const std::string name = "dry" + std::to_string(GetParam());
    std::atomic<int> calls{0};
    policy_handle kept = every(
        1ms, name,
        [&](policy_context& now) {
            EXPECT_EQ(now.set("spin-us", 7, "a try"), 50U);
            calls += 1;
        },
        k_patient);
    ASSERT_TRUE(eventually([&] { return calls >= 3; }));
    kept.stop();
    const auto logged = decisions_of(name);
    ASSERT_EQ(logged.size(), 1U);
    EXPECT_FALSE(logged.front().applied);
    EXPECT_EQ(quern::adaptation::text_of(logged.front()),
              name + ": spin-us 50 -> 7 us (not applied): a try");
    EXPECT_EQ(rt.default_pool().knob("spin-us"), 50U);
}

// Holds: policy: In mode off it is not called; a runtime with another mode wakes it.
TEST(policy_mode_test, is_not_called_in_mode_off) {
    std::optional<with_mode> off(std::in_place, "off");
    std::optional<quern::runtime> rt(std::in_place, quern::runtime_options::with_workers(2));
    std::atomic<int> calls{0};
    std::atomic<int> events{0};
    const auto count = [](std::atomic<int>& to) { return [&to](policy_context&) { to += 1; }; };
    const policy_handle periodic = every(1ms, "off-periodic", count(calls), k_patient);
    const policy_handle triggered = on(k_step, "off-triggered", count(events), k_patient);
    k_step.fire();
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(calls + events, 0);
    rt.reset();
    off.reset();
    EXPECT_TRUE(eventually([&] {
        k_step.fire();
        return calls > 0 && events > 0;
    }));
}

// Holds: policy: The first one that sets a knob owns it; set() of another one throws an error that
// names the owner, until the owner has ended.
TEST_P(policy_knobs_test, owns_the_knobs_that_it_sets) {
    const quern::runtime rt(options());
    std::atomic<int> owner_calls{0};
    policy_handle owner = every(
        1ms, "owner",
        [&](policy_context& now) {
            now.set("spin-us", 40, "mine");
            owner_calls += 1;
        },
        k_patient);
    ASSERT_TRUE(eventually([&] { return owner_calls >= 1; }));
    std::mutex lock;
    std::string refusal;
    std::atomic<unsigned> set{0};
    const policy_handle second = every(
        1ms, "second",
        [&](policy_context& now) {
            const std::string text = message_of([&] { set = now.set("spin-us", 30, "mine too"); });
            const std::scoped_lock guard(lock);
            refusal = refusal.empty() ? text : refusal;
        },
        k_patient);
    ASSERT_TRUE(eventually([&] {
        const std::scoped_lock guard(lock);
        return !refusal.empty();
    }));
    EXPECT_EQ(refusal,
              "quern: policy 'second' cannot set knob 'spin-us' of pool 'default': policy 'owner' "
              "owns it");
    owner.stop();
    EXPECT_TRUE(eventually([&] { return set == 30; }));
}

// Holds: policy: In mode dry-run nothing is owned: the set() of another policy throws nothing, and
// that another one owns the knob is logged once.
TEST_P(policy_knobs_test, ends_no_policy_for_an_owner_in_a_dry_run) {
    const with_mode dry("dry-run");
    const quern::runtime rt(options());
    const std::string first = "dry-first" + std::to_string(GetParam());
    const std::string second = "dry-second" + std::to_string(GetParam());
    std::atomic<int> first_calls{0};
    std::atomic<int> second_calls{0};
    const auto sets = [](std::atomic<int>& calls, unsigned value) {
        return [&calls, value](policy_context& now) {
            now.set("spin-us", value, "a try");
            calls += 1;
        };
    };
    const policy_handle one = every(1ms, first, sets(first_calls, 40), k_patient);
    ASSERT_TRUE(eventually([&] { return first_calls >= 1; }));
    const policy_handle two = every(1ms, second, sets(second_calls, 30), k_patient);
    ASSERT_TRUE(eventually([&] { return second_calls >= 3; }));
    EXPECT_TRUE(one.is_active());
    EXPECT_TRUE(two.is_active());
    const auto logged = decisions_of(second);
    ASSERT_EQ(logged.size(), 1U);
    EXPECT_EQ(quern::adaptation::text_of(logged.front()),
              second + ": spin-us 50 -> 30 us (not applied): another policy owns the knob");
    EXPECT_EQ(rt.default_pool().knob("spin-us"), 50U);
}

// Holds: policy: A value that the program has set since the owner's last one stays; that is logged
// once.
TEST_P(policy_knobs_test, leaves_a_knob_that_the_program_has_set) {
    const quern::runtime rt(options());
    const std::string name = "polite" + std::to_string(GetParam());
    std::atomic<int> calls{0};
    const policy_handle kept = every(
        1ms, name,
        [&](policy_context& now) {
            now.set("spin-us", 100 + static_cast<unsigned>(calls % 2), "to and fro");
            calls += 1;
        },
        k_patient);
    ASSERT_TRUE(eventually([&] { return calls >= 2; }));
    const auto is_left = [&] {
        const auto logged = decisions_of(name);
        return std::any_of(logged.begin(), logged.end(),
                           [](const decision& each) { return !each.applied; });
    };
    // The policy may read the knob before the program sets it, and set it afterwards.
    ASSERT_TRUE(eventually([&] {
        rt.default_pool().set_knob("spin-us", 9);
        std::this_thread::sleep_for(2ms);
        return is_left();
    }));
    rt.default_pool().set_knob("spin-us", 8);
    const int before = calls;
    ASSERT_TRUE(eventually([&] { return calls > before + 3; }));
    EXPECT_EQ(rt.default_pool().knob("spin-us"), 8U);
    EXPECT_EQ(quern::adaptation::text_of(decisions_of(name).back()),
              name +
                  ": spin-us stays 9 us (not applied): the program has set it since, and its "
                  "value stays");
}

// Holds: policy: It acts on the pool of its options, and is not called after the end of that pool's
// runtime.
TEST_P(policy_knobs_test, acts_on_its_pool_until_its_runtime_ends) {
    quern::runtime_options two = options();
    two.pools.push_back({.name = "side", .workers = 1});
    std::optional<quern::runtime> rt(std::in_place, two);
    const quern::runtime other(options());
    policy_options how = k_patient;
    how.pool = rt->pool("side");
    std::atomic<int> calls{0};
    const policy_handle kept = every(
        1ms, "side",
        [&](policy_context& now) {
            EXPECT_EQ(now.pool().name(), "side");
            now.set("spin-us", 3, "");
            calls += 1;
        },
        how);
    ASSERT_TRUE(eventually([&] { return calls >= 2; }));
    EXPECT_EQ(rt->pool("side").knob("spin-us"), 3U);
    EXPECT_EQ(rt->default_pool().knob("spin-us"), 50U);
    rt.reset();
    EXPECT_TRUE(eventually([&] { return !kept.is_active(); }));
    const int last = calls;
    std::this_thread::sleep_for(10ms);
    EXPECT_EQ(calls, last);
}

}  // namespace
