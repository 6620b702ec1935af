// SPDX-License-Identifier: BSL-1.0
// HPL and Jacobi on networks of different rates. Size: Mbit/s. Source: the thesis on OmpSs, figures
// 7.5 to 7.7.
#include "../hpl/hpl_app.hpp"
#include "jacobi_app.hpp"

namespace bench::mpi_bandwidth {

namespace {

constexpr std::size_t k_equations = 2048;

struct hpl_here : hpl_app {
    explicit hpl_here(const arguments&) : hpl_app(k_equations) {}
};

const contender hpl_pure = ranks::pure_of<hpl_here>("mpi_bandwidth", "hpl_pure");
const contender hpl_look_ahead = ranks::variant_of<hpl_here>("mpi_bandwidth", "hpl_look_ahead",
                                                             &hpl_here::look_ahead, ranks::alone);
const contender hpl_tasks =
    ranks::variant_of<hpl_here>("mpi_bandwidth", "hpl_tasks", &hpl_here::tasks, ranks::as_task);
const contender jacobi_pure = ranks::pure_of<jacobi_app>("mpi_bandwidth", "jacobi_pure");
const contender jacobi_fork_join = ranks::variant_of<jacobi_app>(
    "mpi_bandwidth", "jacobi_fork_join", &jacobi_app::fork_join, ranks::beside_runtime);
const contender jacobi_tasks = ranks::variant_of<jacobi_app>("mpi_bandwidth", "jacobi_tasks",
                                                             &jacobi_app::tasks, ranks::as_task);

}  // namespace

}  // namespace bench::mpi_bandwidth
