// SPDX-License-Identifier: BSL-1.0
// The matrix product whose second factor goes round the ranks (apps/mpi/ring). Size: rows and
// columns.
#include "../../apps/mpi/ring/variants.hpp"

#include "../harness/mpi_apps.hpp"

#include <cstddef>

namespace bench::mpi_ring {

namespace {

struct app {
    explicit app(const arguments& a)
        : p(static_cast<std::size_t>(a.size), k_tile, k_pieces, ranks::here()) {
        blas::use_calling_thread();
    }
    void reset() { p.reset(); }
    void check() { ranks::expect_below("the residual", p.residual(), 30); }
    void messages() { ring::by_messages_alone(p); }
    void pure() { ring::by_plain_calls(p); }
    void fork_join() { ring::by_fork_join(p); }
    void tasks() { ring::by_tasks_renamed(p); }

    static constexpr std::size_t k_tile = 256;
    static constexpr std::size_t k_pieces = 8;  ///< messages of a block

    ring::problem p;
};

const contender pure = ranks::pure_of<app>("ring", "pure");
const contender fork_join =
    ranks::variant_of<app>("ring", "fork_join", &app::fork_join, ranks::beside_runtime);
const ranks::by_each_mechanism tasks = ranks::tasks_of<app>("ring", &app::tasks);

}  // namespace

}  // namespace bench::mpi_ring
