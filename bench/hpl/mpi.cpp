// SPDX-License-Identifier: BSL-1.0
// High Performance LINPACK on several ranks. Size: equations.
#include "hpl_app.hpp"

namespace bench::mpi_hpl {

namespace {

const contender pure = ranks::pure_of<hpl_app>("hpl", "pure");
const contender look_ahead =
    ranks::variant_of<hpl_app>("hpl", "look_ahead", &hpl_app::look_ahead, ranks::alone);
const contender fork_join =
    ranks::variant_of<hpl_app>("hpl", "fork_join", &hpl_app::fork_join, ranks::beside_runtime);
const ranks::by_each_mechanism tasks = ranks::tasks_of<hpl_app>("hpl", &hpl_app::tasks);

}  // namespace

}  // namespace bench::mpi_hpl
