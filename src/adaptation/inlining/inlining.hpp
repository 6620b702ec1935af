// SPDX-License-Identifier: BSL-1.0
// Whether child tasks run at once, by the rule that the settings name. attach_adaptation.cpp calls
// it for each runtime that begins.
#pragma once

#include "inlining/inlining_rules.hpp"

#include <quern/adaptation/decisions.hpp>

namespace quern::adaptation::detail {

/// From now on, for all runtimes of the process. `always`: tasks with launch::async are children
/// too. Another rule than before forgets what was learned, but not which kinds have suspended.
void use_inlining(inlining_rule rule, bool always, mode what) noexcept;

}  // namespace quern::adaptation::detail
