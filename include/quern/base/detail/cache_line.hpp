// SPDX-License-Identifier: BSL-1.0
// The cache-line size used to separate data of different writers.
// A fixed constant instead of std::hardware_destructive_interference_size, whose value depends on
// compiler flags and may differ between translation units of one program.
#pragma once

#include <cstddef>

namespace quern::detail {

/// Bytes; 64 on every x86-64 and on the common aarch64 cores.
inline constexpr std::size_t k_cache_line = 64;

}  // namespace quern::detail
