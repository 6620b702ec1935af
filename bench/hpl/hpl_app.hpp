// SPDX-License-Identifier: BSL-1.0
// High Performance LINPACK (apps/mpi/hpl) on one row of ranks, for several problems.
#pragma once

#include "../../apps/mpi/hpl/variants.hpp"

#include "../harness/mpi_apps.hpp"

#include <cstddef>
#include <vector>

namespace bench {

struct hpl_app {
    explicit hpl_app(const arguments& how) : hpl_app(static_cast<std::size_t>(how.size)) {}
    /// `n`: equations.
    explicit hpl_app(std::size_t n)
        : a(n, k_width, hpl::rank_grid("1x" + std::to_string(ranks::size()), ranks::here())), s(a) {
        blas::use_calling_thread();
    }
    void reset() { a.reset(); }
    void check() {
        const double residual = a.residual(x);
        ranks::expect_below("the residual", residual, 16);
    }
    void messages() { hpl::by_messages_alone(s); }
    void pure() { solve(hpl::by_plain_calls); }
    void look_ahead() { solve(hpl::by_plain_look_ahead); }
    void fork_join() { solve(hpl::by_fork_join); }
    void tasks() { solve(hpl::by_tasks); }

    static constexpr std::size_t k_width = 64;

    hpl::matrix a;
    hpl::steps s;
    std::vector<double> x;

private:
    void solve(void (*factorise)(hpl::steps&)) {
        factorise(s);
        x = s.solve();
    }
};

}  // namespace bench
