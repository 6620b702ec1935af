// SPDX-License-Identifier: BSL-1.0
// Values that localities publish, and policies of the whole job.
#include "on_job.hpp"

#include <quern/adaptation/decisions.hpp>
#include <quern/adaptation/global_value.hpp>
#include <quern/counters/counter.hpp>
#include <quern/localities/communicator.hpp>
#include <quern/localities/global_policy.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using namespace quern_test;
using namespace std::chrono_literals;
using quern::adaptation::global_value;
using quern::adaptation::policy_context;
using quern::adaptation::reduction;
using quern::counters::counter_set;
using quern::localities::communicator;
using quern::localities::count;
using quern::localities::global_policy;
using quern::localities::here;
using quern::localities::root;

class global_values_test : public on_job {};
QUERN_ON_1_2_WORKERS(global_values_test);
class values_of_sessions : public on_workers {};
QUERN_ON_1_2_WORKERS(values_of_sessions);

/// Values are those of the process: each case has its own.
std::string case_of(unsigned workers) { return " " + std::to_string(workers); }

/// The program's own time limit ends a wait in vain.
template <class F>
void wait_until(F holds) {
    while (!holds()) {
        std::this_thread::sleep_for(1ms);
    }
}

void meet(const char* where) { communicator(where).barrier().get(); }

// Holds: global_value: in a session each locality has what the others have published, and reduces
// over all.
TEST_P(global_values_test, are_known_everywhere) {
    const global_value load("everywhere" + case_of(GetParam()));
    EXPECT_FALSE(load.reduce(reduction::sum).has_value());
    meet("before");
    load.publish(here() + 1.0);
    const double last = count();
    wait_until([&] { return load.reduce(reduction::sum) == last * (last + 1) / 2; });
    EXPECT_EQ(load.reduce(reduction::least), 1.0);
    EXPECT_EQ(load.reduce(reduction::most), last);
    EXPECT_EQ(load.reduce(reduction::mean), (last + 1) / 2);
    EXPECT_EQ(load.get(), here() + 1.0);
    for (int each = 0; each < count(); ++each) {
        EXPECT_EQ(load.get(each), each + 1.0);
    }
    EXPECT_FALSE(load.get(count()).has_value());
    EXPECT_THROW(static_cast<void>(load.reduce(static_cast<reduction>(17))), std::invalid_argument);
}

// Holds: global_value: a value that is not a number makes every reduction one, at all localities,
// from whichever it comes.
TEST_P(global_values_test, not_a_number_wins) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (int from = 0; from < count(); ++from) {
        const global_value one("nan of " + std::to_string(from) + case_of(GetParam()));
        one.publish(here() == from ? nan : here());
        wait_until([&] { return one.get(count() - 1).has_value() && one.get(0).has_value(); });
        wait_until([&] { return std::isnan(one.get(from).value_or(0)); });
        for (const reduction how :
             {reduction::sum, reduction::least, reduction::most, reduction::mean}) {
            EXPECT_TRUE(std::isnan(one.reduce(how).value_or(0))) << from << " " << int(how);
        }
    }
}

// Holds: global_value: the values of one locality arrive in their order, the last one always.
TEST_P(global_values_test, the_newest_arrives) {
    const global_value step("step" + case_of(GetParam()));
    const global_value other("other" + case_of(GetParam()));
    const int steps = scaled(100'000, 10'000);
    const int from = (here() + count() - 1) % count();
    counter_set sent;
    sent.add("/parcels/count/sent");
    double seen = -1;
    for (int i = 0; i < steps; ++i) {
        step.publish(i);
        other.publish(-i);
        const double now = step.get(from).value_or(-1);
        EXPECT_GE(now, seen);
        seen = now;
    }
    wait_until([&] { return step.reduce(reduction::least) == steps - 1; });
    wait_until([&] { return other.reduce(reduction::most) == 1 - steps; });
    const auto parcels = sent.evaluate().values;
    std::printf("[ values   ] %d changes, %.0f parcels\n", 2 * steps, parcels.front().value);
}

// Holds: global_value: what was published before the session is told when it begins; what was known
// at its end stays, until the next one begins.
TEST_P(values_of_sessions, outlive_them) {
    const global_value load("sessions");
    load.publish(10.0 + this_world().rank);
    for (int session = 0; session < 2; ++session) {
        own_job job(GetParam());
        wait_until([&] { return load.get(count() - 1) == 10.0 + count() - 1; });
        wait_until([&] { return load.reduce(reduction::most) == 10.0 + count() - 1; });
        meet("known");
        job.end();
        EXPECT_EQ(load.get(static_cast<int>(number_of_ranks()) - 1),
                  10.0 + static_cast<double>(number_of_ranks()) - 1);
        load.publish(10.0 + this_world().rank);
    }
}

// Holds: global_policy: the root alone decides, each locality does it, the last decision always.
TEST_P(global_values_test, a_policy_acts_everywhere) {
    const global_value wish("wish" + case_of(GetParam()));
    std::atomic<int> decided{0};
    std::atomic<int> applied{0};
    wish.publish(100.0 + here());
    global_policy<unsigned> kept(
        1ms, "spin-of-all",
        [&](policy_context& /*now*/) -> std::optional<unsigned> {
            const auto most = wish.reduce(reduction::most);
            if (!most || *most < 100.0 + count() - 1) {
                return std::nullopt;
            }
            ++decided;
            return static_cast<unsigned>(*most);
        },
        [&](policy_context& now, const unsigned& micros) {
            now.set("spin-us", micros, "the longest that a locality wants");
            applied = static_cast<int>(micros);
        });
    wait_until([&] { return applied == 100 + count() - 1; });
    meet("applied");
    EXPECT_TRUE(kept.is_active());
    EXPECT_EQ(decided > 0, here() == root);
    EXPECT_EQ(quern::runtime::default_instance().default_pool().knob("spin-us"),
              100U + static_cast<unsigned>(count()) - 1);
    const auto log = quern::adaptation::decisions();
    EXPECT_NE(std::find_if(log.rbegin(), log.rend(),
                           [](const auto& each) { return each.policy == "spin-of-all"; }),
              log.rend());
    meet("looked");  // the next decision comes as soon as the first of us publishes
    wish.publish(200.0 + here());
    wait_until([&] { return applied == 200 + count() - 1; });
    meet("again");
    kept.stop();
    EXPECT_FALSE(kept.is_active());
}

// Holds: global_policy: wrong uses are refused in words; a decision of another type ends the policy
// of the root.
TEST_P(global_values_test, mistakes_are_named) {
    const auto nothing = [](policy_context&) -> std::optional<int> { return std::nullopt; };
    const auto ignore = [](policy_context&, const int&) {};
    const auto made = [&](std::chrono::nanoseconds period, const char* name) {
        return global_policy<int>(period, name, nothing, ignore);
    };
    const global_policy<int> first = made(1s, "taken");
    EXPECT_THROW(static_cast<void>(made(1s, "taken")), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(made(0s, "none")), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(made(1s, "")), std::invalid_argument);
    static_cast<void>(made(1s, "ends"));
    EXPECT_TRUE(made(1s, "ends").is_active());  // the name is free again
    if (count() == 1) {
        return;
    }
    std::optional<global_policy<int>> whole;
    std::optional<global_policy<double>> broken;
    if (here() == root) {
        meet("others have one");
        whole.emplace(
            1ms, "types", [](policy_context&) { return std::optional(1); }, ignore);
        wait_until([&] { return !whole->is_active(); });
    } else {
        broken.emplace(
            1s, "types", [](policy_context&) { return std::optional(1.0); },
            [](policy_context&, const double&) { ADD_FAILURE() << "of another type"; });
        meet("others have one");
        EXPECT_TRUE(broken->is_active());
    }
    meet("ended");
}

}  // namespace
