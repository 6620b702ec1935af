// SPDX-License-Identifier: BSL-1.0
// The table of scheduling policies, which begins with the built-in ones.
#pragma once

#include <quern/base/detail/growing_table.hpp>
#include <quern/scheduler/policy.hpp>

namespace quern::detail {

using policy_table = growing_table<scheduling_policy, 32>;

extern policy_table g_policies;  // in policies.cpp, with its first rows

}  // namespace quern::detail
