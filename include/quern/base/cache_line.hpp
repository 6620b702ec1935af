// SPDX-License-Identifier: BSL-1.0
// The cache-line size used to keep data of different writers apart.
// A fixed constant and not std::hardware_destructive_interference_size, whose value depends on
// compiler flags and so may differ between two translation units of one program.
#pragma once

#include <cstddef>

namespace quern::detail {

/// Bytes; 64 on every x86-64 and on the common aarch64 cores.
inline constexpr std::size_t k_cache_line = 64;

}  // namespace quern::detail
