// SPDX-License-Identifier: BSL-1.0
// Tests the reduction against the full search: random small programs over all operations are
// explored with and without it, under each memory model and option, and must have the same verdict
// and the same set of outcomes. Run by ctest with fixed seeds. A change of the search must also
// pass far more seeds (README.md says how).
#include "random_program.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace {

using namespace model;
using namespace model::random_programs;

// TEST_MODEL_SEEDS=n runs n programs per test instead, for long runs by hand.
std::uint32_t seeds() {
    const char* const text = std::getenv("TEST_MODEL_SEEDS");
    return text != nullptr ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)) : 400;
}

void compare(std::uint32_t seed, const program& p, options o) {
    outcomes all;
    outcomes reduced;
    o.idle_rounds = 3;
    o.max_executions = 300'000;
    options without = o;
    without.reduction = false;
    const result truth = explore_program(p, without, all);
    if (truth.ok() && !truth.exhaustive) return;
    const result found = explore_program(p, o, reduced);
    ASSERT_EQ(found.ok(), truth.ok()) << "seed " << seed << '\n'
                                      << to_text(p) << truth.report() << found.report();
    if (!truth.ok()) return;
    ASSERT_EQ(reduced, all) << "seed " << seed << '\n' << to_text(p);
    ASSERT_TRUE(found.exhaustive);
    ASSERT_LE(found.executions, truth.executions) << "seed " << seed << '\n' << to_text(p);
}

void compare_all(const program_shape& shape, std::uint32_t first_seed) {
    for (std::uint32_t seed = first_seed;
         seed != first_seed + seeds() && !::testing::Test::HasFatalFailure(); ++seed) {
        const program p = random_program(seed, shape);
        for (const memory stores : {memory::sequential, memory::tso, memory::pso}) {
            const std::uint32_t some = seed % 2;
            compare(seed, p,
                    {.stores = stores,
                     .pause = some != 0 ? pause_wakes::any_write : pause_wakes::read_set,
                     .spurious_cas = some,
                     .spurious_wakeups = seed % 3 == 0 ? 1u : 0u,
                     .timeouts = some});
        }
    }
}

TEST(model_reduction, plain_atomics_two_threads) {
    compare_all({.threads = 2, .length = 5, .objects = 2}, 1);
}
TEST(model_reduction, plain_atomics_three_threads) {
    compare_all({.threads = 3, .length = 3, .objects = 2}, 10'000);
}
TEST(model_reduction, plain_atomics_four_threads) {
    compare_all({.threads = 4, .length = 2, .objects = 3}, 20'000);
}
TEST(model_reduction, futexes) {
    compare_all({.threads = 3, .length = 3, .objects = 2, .futexes = true}, 30'000);
}
TEST(model_reduction, spins_and_choices) {
    compare_all({.threads = 3, .length = 3, .objects = 2, .spins = true}, 40'000);
}
TEST(model_reduction, plain_variables) {
    compare_all({.threads = 2, .length = 4, .objects = 2, .plain_variables = true}, 50'000);
}
TEST(model_reduction, everything) {
    compare_all({.threads = 3,
                 .length = 3,
                 .objects = 2,
                 .futexes = true,
                 .spins = true,
                 .plain_variables = true},
                60'000);
}

// Programs that a search with one missing conflict gets wrong; found by long runs of the tests
// above.
instruction on(verb what, unsigned object, int value) {
    return {what, object, value, std::memory_order_seq_cst};
}

TEST(model_reduction, a_wake_up_that_came_too_late_for_a_time_out) {
    compare(0, {{on(verb::wake, 2, 1)}, {on(verb::timed_wait, 2, 0)}}, {.timeouts = 1});
}

TEST(model_reduction, a_wake_up_that_takes_a_time_out_away) {
    compare(0,
            {{on(verb::timed_wait, 1, 2)},
             {on(verb::cas, 1, 1)},
             {on(verb::timed_wait, 1, 2), on(verb::wake, 1, 2)},
             {on(verb::add, 1, 1)}},
            {.timeouts = 0});
}

TEST(model_reduction, a_wait_that_fails_still_conflicts_with_a_wake_up) {
    compare(0,
            {{on(verb::wait, 0, 0)},
             {on(verb::timed_wait, 1, 1), on(verb::exchange, 0, 2)},
             {on(verb::wake, 0, 2)}},
            {.timeouts = 1});
}

TEST(model_reduction, a_bounded_spin_is_ended_by_each_number_of_changes) {
    const program p{{on(verb::add, 0, 1), on(verb::store, 1, 1)}, {on(verb::spin_twice, 1, 0)}};
    compare(0, p, {.pause = pause_wakes::any_write});
    compare(0, p, {.pause = pause_wakes::read_set});
}

}  // namespace
