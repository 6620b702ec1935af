// SPDX-License-Identifier: BSL-1.0
// Settings, pollers and counters of this layer, added to the process.
#include "interface/attach_mpi.hpp"

#include "interface/counters_source.hpp"
#include "library/fortran.hpp"
#include "library/mechanism.hpp"
#include "progress/engine.hpp"
#include "progress/pools.hpp"

#include <quern/scheduler/detail/blocked_call.hpp>

namespace quern::mpi::detail {

namespace {

/// Teams of OpenMP have begun, whose members run other tasks while calls wait: calls use the
/// entrance from now on, as while a runtime lives.
void teams_begin() noexcept {
    expect_fortran_calls();
    engine::of_process().runtime_begins();
}

}  // namespace

bool attach_mpi() {
    static const bool done = (add_mechanisms(), observe_runtimes(), install_counters(),
                              quern::detail::have_blocked_calls(teams_begin), true);
    return done;
}

}  // namespace quern::mpi::detail
