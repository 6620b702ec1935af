// SPDX-License-Identifier: BSL-1.0
// How many workers a pool should have, and the sentence that says why. The pool calls it when it
// starts, `quern info` shows its answer. It never refuses: more workers than CPUs is a legal wish.
#pragma once

#include <quern/topology/limits.hpp>
#include <quern/topology/machine.hpp>

#include <optional>
#include <string>

namespace quern::topology {

struct worker_choice {
    unsigned count = 1;  ///< at least 1
    limit_kind decided_by = limit_kind::machine;
    bool requested = false;  ///< the user said so; decided_by then tells what would have decided
    std::string
        why;  ///< one line: the deciding limit, with its file, and the others for comparison
};

/// The requested number if there is one and it is not 0, otherwise the effective CPUs. On a
/// synthetic machine the limits of this computer do not count and every processing unit gets a
/// worker.
worker_choice choose_workers(const machine& on, const cpu_limits& limits,
                             std::optional<unsigned> requested = {});

}  // namespace quern::topology
