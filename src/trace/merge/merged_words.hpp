// SPDX-License-Identifier: BSL-1.0
// What only merged traces have: written by merge.cpp, read by picture.cpp. Private to the layer.
#pragma once

#include <cstdint>
#include <string_view>

namespace quern::trace::detail::perfetto {

/// Flows of messages; those of tasks and dependences of a rank differ in other bits.
inline constexpr std::uint64_t k_first_message_flow = std::uint64_t{1} << 61U;

/// In the name of a worker, before the number of its runtime if that is not the first.
inline constexpr std::string_view k_of_runtime = " of runtime ";

}  // namespace quern::trace::detail::perfetto
