// SPDX-License-Identifier: BSL-1.0
// Cut-offs: which calls run serially, what they return and throw, and that they follow changes.
#include <quern/adaptation/cutoff.hpp>
#include <quern/adaptation/decisions.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/settings/settings.hpp>
#include <quern/task/async.hpp>
#include <quern/task/fork_join.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using quern_test::spin_for;

enum class way { parallel, serial };

void work_for(double ns) {
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::nanoseconds(static_cast<long>(ns));
    while (std::chrono::steady_clock::now() < until) {
    }
}

/// A call of work that takes so many ns for each unit of cost, however it is executed.
way call(quern::cutoff& c, double cost, double ns_per_unit) {
    return c(
        cost,
        [&] {
            work_for(cost * ns_per_unit);
            return way::parallel;
        },
        [&] {
            work_for(cost * ns_per_unit);
            return way::serial;
        });
}

/// As a recursion calls: large costs before small ones.
void warm_up(quern::cutoff& c, double ns_per_unit) {
    for (int turn = 0; turn < 50; ++turn) {
        for (double cost = 1 << 14; cost >= 1; cost /= 2) {
            call(c, cost, ns_per_unit);
        }
    }
}

class cutoff_test : public testing::TestWithParam<unsigned> {
protected:
    quern::runtime rt{quern::runtime_options::with_workers(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(on, cutoff_test, testing::Values(1U, 2U, 8U));

// Holds: cutoff: Calls that take much longer than kappa run in parallel, calls that take much less
//     run serially.
TEST_P(cutoff_test, tells_small_from_large) {
    static constexpr double k_ns = 10;
    quern::cutoff c("test");
    warm_up(c, k_ns);
    const double at_kappa = quern::cutoff::least_kappa_ns() / k_ns;
    EXPECT_EQ(call(c, at_kappa * 20, k_ns), way::parallel);
    EXPECT_EQ(call(c, 2, k_ns), way::serial);
    EXPECT_GT(c.proven(), 0);
    EXPECT_GE(c.ns_per_cost(), k_ns);  // the spinning takes at least so long
}

// Holds: cutoff: While no time is known, the first serial call is at most a thousandth of the
//     outermost one.
TEST_P(cutoff_test, begins_with_small_parts) {
    quern::cutoff c("test");
    std::vector<way> ways;
    c(
        1e6,
        [&] {
            for (const double cost : {1e6, 1e5, 1e4, 999.0}) {
                ways.push_back(call(c, cost, 0));
            }
        },
        [] { FAIL() << "the outermost call is serial"; });
    EXPECT_EQ(ways, (std::vector<way>{way::parallel, way::parallel, way::parallel, way::serial}));
}

// Holds: cutoff: An outermost call that takes little time is itself a measurement.
TEST_P(cutoff_test, learns_from_small_outermost_calls) {
    quern::cutoff c("test");
    EXPECT_EQ(call(c, 8, 0), way::parallel);
    EXPECT_GT(c.ns_per_cost(), 0);
    way last = way::parallel;
    for (int i = 0; i < 1000 && last == way::parallel; ++i) {
        last = call(c, 8, 0);
    }
    EXPECT_EQ(last, way::serial);
}

// Holds: cutoff: Costs may grow by more than a factor of two from size to size.
TEST_P(cutoff_test, climbs_over_gaps) {
    quern::cutoff c("test");
    for (int turn = 0; turn < 50; ++turn) {
        for (double cost = 1e6; cost >= 1; cost /= 10) {
            call(c, cost, 0.001);
        }
    }
    EXPECT_GE(c.proven(), 1e2);
}

// Holds: cutoff: Within a large call, calls of a 32nd of a worker's share run serially; outermost
//     they run in parallel, and so does what is left of them.
TEST_P(cutoff_test, leaves_enough_pieces_of_a_large_call) {
    static constexpr double k_ns = 10;
    quern::cutoff c("test");
    const double large = 4e6;   // 40 ms: pieces of 156 us on 8 workers
    const double middle = 1e4;  // 100 us: as much as the least kappa can be
    bool was_serial = false;
    for (int turn = 0; turn < 20 && !was_serial; ++turn) {
        c(
            large,
            [&] {
                warm_up(c, k_ns);
                was_serial = call(c, middle, k_ns) == way::serial;
                work_for(large * k_ns - 50 * 2 * (1 << 14) * k_ns);
            },
            [] { FAIL(); });
    }
    EXPECT_TRUE(was_serial);
    EXPECT_EQ(call(c, 1e5, k_ns), way::parallel);
}

// Holds: cutoff: When calls take longer than before, fewer run serially.
TEST_P(cutoff_test, follows_calls_that_become_slower) {
    quern::cutoff c("test");
    const double at_kappa = quern::cutoff::least_kappa_ns();
    // A thread that is interrupted while it measures makes calls seem slower for a while.
    const auto becomes = [&](way wanted, double ns_per_cost) {
        for (int turn = 0; turn < 20; ++turn) {
            warm_up(c, ns_per_cost);
            if (call(c, at_kappa / 4, ns_per_cost) == wanted) {
                return true;
            }
        }
        return false;
    };
    EXPECT_TRUE(becomes(way::serial, 1));
    EXPECT_TRUE(becomes(way::parallel, 100));
}

// Holds: cutoff: What the functions return and throw leaves the call; a cost of NaN runs in
//     parallel.
TEST_P(cutoff_test, returns_and_throws) {
    quern::cutoff c("test");
    const auto either = [&c](double cost) {
        return c(
            cost, [] { return 1; }, [] { return 2; });
    };
    EXPECT_EQ(either(1), 1);  // no time is known
    while (either(1) != 2) {
    }
    const auto throwing = [&c](double cost) {
        c(
            cost, [] { throw std::runtime_error("parallel"); },
            [] { throw std::logic_error("serial"); });
    };
    EXPECT_THROW(throwing(1e300), std::runtime_error);
    EXPECT_THROW(throwing(1), std::logic_error);
    EXPECT_EQ(either(std::nan("")), 1);
    EXPECT_EQ(either(1e300), 1);
}

// Holds: cutoff: With adapt=off every call runs in parallel.
TEST_P(cutoff_test, is_off_when_adaptation_is_off) {
    quern::set_setting("adapt", "off");
    const quern::runtime latest(quern::runtime_options::with_workers(1));
    quern::set_setting("adapt", "on");
    quern::cutoff c("test");
    EXPECT_EQ(call(c, 1, 1), way::parallel);
    EXPECT_EQ(c.proven(), 0);
}

// Holds: cutoff: The cut-off that was found is a decision, logged once.
TEST_P(cutoff_test, logs_what_it_found) {
    const std::string name = "logged cutoff " + std::to_string(GetParam());
    quern::cutoff c(name.c_str());
    warm_up(c, 10);
    std::size_t logged = 0;
    for (const quern::adaptation::decision& each : quern::adaptation::decisions()) {
        logged += each.subject == name ? 1U : 0U;
    }
    EXPECT_EQ(logged, 1U);
}

long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

long fib_in_parallel(quern::fork_context here, quern::cutoff& c, int n) {
    if (n < 2) {
        return n;
    }
    return c(
        std::pow(1.618, n),
        [&] {
            const auto [a, b] = quern::fork_join(
                here, [&](quern::fork_context at) { return fib_in_parallel(at, c, n - 1); },
                [&](quern::fork_context at) { return fib_in_parallel(at, c, n - 2); });
            return a + b;
        },
        [&] { return fib(n); });
}

// Holds: cutoff: The calls of a recursion on all workers share it.
TEST_P(cutoff_test, is_shared_by_a_recursion) {
    quern::cutoff c("fib");
    for (int turn = 0; turn < 5; ++turn) {
        const long found =
            quern::async(rt, [&c] {
                return quern::fork_join(
                    [&c](quern::fork_context at) { return fib_in_parallel(at, c, 22); }, [] {});
            }).get();
        EXPECT_EQ(found, 17711);
    }
    EXPECT_GT(c.proven(), 2);
}

}  // namespace
