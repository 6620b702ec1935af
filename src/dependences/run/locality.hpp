// SPDX-License-Identifier: BSL-1.0
// Where tasks of many bytes run: locality.cpp.
#pragma once

#include <quern/scheduler/detail/worker.hpp>

#include <cstddef>

namespace quern::detail {

/// The thread at which a task becomes ready.
struct ready_from {
    const worker* here;  ///< null: it is no worker of the pool
    bool is_busy;        ///< what it runs continues: it has created the task
    std::size_t queued;  ///< other tasks for it
};

}  // namespace quern::detail
