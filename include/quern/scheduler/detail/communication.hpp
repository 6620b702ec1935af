// SPDX-License-Identifier: BSL-1.0
// What runtimes do with tasks that pass messages (task_attributes::communication). The layer that
// passes messages decides it by its settings; without such a layer they run as all others.
#pragma once

namespace quern {
class settings;
}

namespace quern::detail {

/// Of one runtime.
struct communication_plan {
    bool has_thread = false;  ///< they run on a worker of their own, in a pool of its own
    bool is_ordered = false;  ///< those of one domain run one by one, as they were made
};

/// The pool of that worker.
inline constexpr const char* k_communication_pool = "communication";

/// From now on each new runtime asks `how`, before its pools are known to observers. Thread safe.
void plan_communication_by(communication_plan (*how)(const settings& chosen)) noexcept;

/// The default plan if there is no such function.
communication_plan plan_communication(const settings& chosen);

}  // namespace quern::detail
