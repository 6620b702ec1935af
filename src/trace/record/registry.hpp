// SPDX-License-Identifier: BSL-1.0
// What the layer knows of the process: the recorders, the pools and their all hooks. Everything in
// it requires that the lock trace is held.
#pragma once

#include "record/trace_hooks.hpp"

#include <quern/trace/recorder.hpp>

#include <vector>

namespace quern::trace::detail {

struct observed_runtime;

struct registry {
    std::vector<pool_hooks*> all_hooks;  ///< all that were ever made
    std::vector<quern::detail::pool*> pools;
    std::vector<recorder::state*> recorders;
    std::vector<observed_runtime*> observed;  ///< whose settings ask for files
    unsigned files = 0;                       ///< runtimes of which there were any
    bool has_left_workers = false;            ///< the process ends from within a task

    /// Lives as long as static objects do and until the last runtime ends.
    static registry& of_process();
};

}  // namespace quern::trace::detail
