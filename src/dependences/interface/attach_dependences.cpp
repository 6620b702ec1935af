// SPDX-License-Identifier: BSL-1.0
// Settings, knobs and reports of this layer, added to the process.
#include <quern/dependences/detail/attach.hpp>
#include <quern/dependences/detail/dependent_task.hpp>
#include <quern/scheduler/runtime.hpp>

#include "checks/checks_setting.hpp"
#include "run/explain.hpp"
#include "run/limits.hpp"

#include <mutex>

namespace quern::detail {

bool attach_dependences() {
    static constinit std::once_flag added;
    add_scheduler_settings();  // first in the help
    std::call_once(added, [] {
        add_limits();
        explain_tasks_of(dependent_task::entry(), explain_dependent_task);
        attach_access_checks();
    });
    return true;
}

}  // namespace quern::detail
