// SPDX-License-Identifier: BSL-1.0
// The pools that can be listened to, and who has to know when one comes or goes. All of it requires
// that the lock trace is held.
#pragma once

#include <quern/scheduler/pool.hpp>

#include <vector>

namespace quern::trace::detail {

/// Of all runtimes of this process; lives as long as it.
std::vector<quern::detail::pool*>& live_pools();

void listeners_take_up(quern::detail::pool& which);
void listeners_leave(quern::detail::pool& which);

}  // namespace quern::trace::detail
