// SPDX-License-Identifier: BSL-1.0
// What a task of the program costs, and what an inlined child would: the rule `quern` compares
// them.
#pragma once

#include "inlining/inlining_rules.hpp"

#include <quern/scheduler/detail/pool.hpp>

namespace quern::adaptation::detail {

/// Of the pool whose worker calls it, in a task. Some 100 ns for each worker; once in the process
/// some 5 us, in which empty items run beside the calling task.
quern_rule::costs present_costs(const quern::detail::pool& home) noexcept;

}  // namespace quern::adaptation::detail
