// SPDX-License-Identifier: BSL-1.0
// The bytes of all versions of the process, and what was done with them. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quern::detail {

/// The setting and knob `renaming-bytes`. 0: nothing is renamed.
std::size_t renaming_limit() noexcept;

/// False: there would be more than the limit.
bool reserve_renamed(std::size_t bytes) noexcept;
void return_renamed(std::size_t bytes) noexcept;
std::uint64_t renamed_bytes() noexcept;

void count_version() noexcept;
void count_copy_back() noexcept;

}  // namespace quern::detail
