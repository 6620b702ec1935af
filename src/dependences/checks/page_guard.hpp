// SPDX-License-Identifier: BSL-1.0
// Protects pages while a body runs, and sees its accesses to them in a signal handler. Nothing is
// ever refused: each access is noted and then happens. Of other code, accesses are not noted.
#pragma once

#include "checks/guard_plan.hpp"

#include <cstddef>

namespace quern::detail {

std::size_t guarded_page_bytes() noexcept;

/// From now on the plan belongs to the handler. Requires: no other plan is guarded; called by the
/// context plan.body.
void guard_pages(guard_plan& plan) noexcept;
/// All pages are as before, and no handler uses the plan.
void unguard_pages(guard_plan& plan) noexcept;

}  // namespace quern::detail
