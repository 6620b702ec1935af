// SPDX-License-Identifier: BSL-1.0
// Settings, pollers and counters of this layer, added to the process.
#include "interface/attach_mpi.hpp"

#include "interface/counters_source.hpp"
#include "library/mechanism.hpp"
#include "progress/pools.hpp"

namespace quern::mpi::detail {

bool attach_mpi() {
    static const bool done = (add_mechanisms(), observe_runtimes(), install_counters(), true);
    return done;
}

}  // namespace quern::mpi::detail
