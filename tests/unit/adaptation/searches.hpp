// SPDX-License-Identifier: BSL-1.0
// Shared by the tests of tuners: a search from its beginning to its end, and the searches for any
// space.
#pragma once

#include <quern/adaptation/tuner.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace quern_test {

inline constexpr quern::adaptation::strategy k_general[] = {
    quern::adaptation::strategy::hill_climbing, quern::adaptation::strategy::nelder_mead,
    quern::adaptation::strategy::parallel_rank_order,
    quern::adaptation::strategy::simulated_annealing};

/// Asks and tells until convergence; returns the points tried, in order.
template <class Cost>
std::vector<quern::adaptation::point> run(quern::adaptation::tuner& search, Cost cost,
                                          std::size_t limit = 20'000) {
    std::vector<quern::adaptation::point> tried;
    while (!search.converged() && tried.size() < limit) {
        const quern::adaptation::trial next = search.ask();
        tried.push_back(next.where);
        search.tell(next, cost(next.where));
    }
    EXPECT_TRUE(search.converged());
    return tried;
}

}  // namespace quern_test
