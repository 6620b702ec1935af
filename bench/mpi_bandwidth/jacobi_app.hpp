// SPDX-License-Identifier: BSL-1.0
// Jacobi sweeps over the rows of several ranks (apps/mpi/jacobi).
#pragma once

#include "../../apps/mpi/jacobi/variants.hpp"

#include "../harness/mpi_apps.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace bench {

struct jacobi_app {
    explicit jacobi_app(const arguments&)
        : g(k_points, k_tile, ranks::here()), right(jacobi::swept_serially(k_points, k_plan)) {}
    void reset() { g.reset(); }
    /// Each rank compares its rows with those of the serial sweeps, bit by bit.
    void check() {
        const auto first = apps::mpi::share_of(k_points, ranks::here()).first;
        double wrong = 0;
        for (std::size_t r = 0; r < g.rows(); ++r) {
            const double* const row = g.point(k_plan.steps % 2, static_cast<std::ptrdiff_t>(r), 0);
            for (std::size_t c = 0; c < k_points; ++c) {
                wrong += row[c] == right.points[(first + r) * k_points + c] ? 0 : 1;
            }
        }
        wrong += changes == right.changes ? 0 : 1;
        ranks::expect_below("the number of wrong points", wrong, 1);
    }
    void messages() { jacobi::by_messages_alone(g, k_plan); }
    void pure() { changes = jacobi::by_plain_loops(g, k_plan); }
    void fork_join() { changes = jacobi::by_fork_join(g, k_plan); }
    void tasks() { changes = jacobi::by_tasks(g, k_plan); }

    static constexpr std::size_t k_points = 2048;  ///< along a side
    static constexpr std::size_t k_tile = 256;
    static constexpr jacobi::plan k_plan{40, 10};

    jacobi::grid g;
    jacobi::outcome right;
    std::vector<double> changes;
};

}  // namespace bench
