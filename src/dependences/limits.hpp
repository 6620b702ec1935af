// SPDX-License-Identifier: BSL-1.0
// The limit of live tasks of a domain, which is a setting and a knob.
#pragma once

#include <cstdint>

namespace quern::detail {

std::int64_t live_tasks_limit() noexcept;

}  // namespace quern::detail
