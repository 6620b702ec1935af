// SPDX-License-Identifier: BSL-1.0
// The memory of new arrays. Large blocks that are freed are kept for the next arrays of about that
// size: pages that the system gives anew cost more than what is computed there.
#pragma once

#include <cstddef>
#include <memory>

namespace quern::arrays::detail {

/// Blocks of these sizes are kept, all together up to k_most_kept_bytes; the oldest one goes first.
inline constexpr std::size_t k_least_kept = std::size_t{128} << 10;
inline constexpr std::size_t k_most_kept = std::size_t{32} << 20;
inline constexpr std::size_t k_most_kept_bytes = std::size_t{128} << 20;

/// Throws a std::bad_alloc of which the text says how many bytes were asked for.
[[noreturn]] void throw_no_memory(std::size_t bytes);

/// Aligned to a cache line, not initialised. Throws throw_no_memory's. Thread safe.
std::shared_ptr<void> make_memory(std::size_t bytes);

/// How many bytes of freed blocks are kept for later.
std::size_t kept_bytes() noexcept;

}  // namespace quern::arrays::detail
