// SPDX-License-Identifier: BSL-1.0
// Cancelled regions, loops, sections and taskgroups. Without OMP_CANCELLATION=true nothing is
// cancelled. Protocol: ../README.md, "Cancellation".
#pragma once

#include "core/team.hpp"

#include <cstdint>

namespace quern::omp {

enum class cancelled_part : std::uint8_t { region, work, group };

/// What OMP_CANCELLATION says; false before the_settings() has been called.
extern constinit bool g_cancels;
inline bool cancellation_is_on() noexcept { return g_cancels; }

/// The construct `cancel`. False: cancellation is off.
bool cancel(member& here, cancelled_part what) noexcept;
/// The construct `cancellation point`: whether the member is to leave the construct.
bool is_cancelled(const member& here, cancelled_part what) noexcept;

/// Whether a task that has not begun is not to run.
QUERN_COLD bool is_in_cancelled_part(const member& here, const task& next) noexcept;
inline bool is_discarded(const member& here, const task& next) noexcept {
    return cancellation_is_on() && is_in_cancelled_part(here, next);
}
/// Whether a task that the present one makes now would be.
bool discards_new_tasks(const member& here) noexcept;

/// A barrier that ends when the region is cancelled too. True: it is.
bool wait_at_cancellable_barrier(member& here) noexcept;
/// The barrier at the end of a region, at which members arrive that have passed others by.
void wait_at_end(member& here) noexcept;
/// Before a region begins.
void reset_cancellation(team& of) noexcept;

}  // namespace quern::omp
