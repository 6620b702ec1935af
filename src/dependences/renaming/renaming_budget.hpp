// SPDX-License-Identifier: BSL-1.0
// The bytes of all versions of the process, and what was done with them. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quern::detail {

/// False: there would be more than the limit.
bool reserve_renamed(std::size_t bytes) noexcept;
void return_renamed(std::size_t bytes) noexcept;
std::uint64_t renamed_bytes() noexcept;

void count_version() noexcept;
void count_copy_back() noexcept;

}  // namespace quern::detail
