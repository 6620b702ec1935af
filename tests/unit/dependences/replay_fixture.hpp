// SPDX-License-Identifier: BSL-1.0
// Shared by the tests of replay.
#pragma once

#include <quern/dependences/domain.hpp>

#include "unit/scheduler/on_runtime.hpp"

namespace quern_test {

class by_task_or_thread : public on_runtime {
protected:
    /// A domain belongs to a task, or to a thread outside.
    template <class F>
    void by_task_and_thread(F&& f) {
        inside([&] {
            quern::domain work;
            f(work);
        });
        quern::domain work(rt.default_pool());
        f(work);
    }
};

/// Whether the running task was made in an earlier step.
inline int is_replayed() { return quern::detail::dependent_task::current()->is_replayed() ? 1 : 0; }

}  // namespace quern_test
