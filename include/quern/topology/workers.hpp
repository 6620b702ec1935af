// SPDX-License-Identifier: BSL-1.0
// The number of workers of a pool, with its reason. The pool calls it when it starts, `quern info`
// shows the result. It never refuses: more workers than CPUs are allowed.
#pragma once

#include <quern/topology/limits.hpp>
#include <quern/topology/machine.hpp>

#include <optional>
#include <string>

namespace quern::topology {

struct worker_choice {
    unsigned count = 1;  ///< at least 1
    limit_kind decided_by = limit_kind::machine;
    bool requested = false;  ///< the user set it; decided_by then names the limit that would apply
    std::string why;  ///< one line: the deciding limit with its file, and the others for comparison
};

/// The requested number if it is given and not 0, else the effective CPUs. On a synthetic machine
/// this computer's limits do not apply, and every processing unit gets a worker.
worker_choice choose_workers(const machine& on, const cpu_limits& limits,
                             std::optional<unsigned> requested = {});

}  // namespace quern::topology
