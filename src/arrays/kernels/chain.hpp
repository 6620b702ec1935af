// SPDX-License-Identifier: BSL-1.0
// Chains of elementwise operations, computed block by block: what one operation gives the next
// stays in a cache, and has no array of its own.
#pragma once

#include "kernels/elementwise.hpp"

#include <array>
#include <cstddef>
#include <memory>

namespace quern::arrays::detail {

/// Fewer elements are computed at once: a chain costs about 1 us beside its elements.
inline constexpr std::ptrdiff_t k_least_in_chain = 4096;
/// What a chain may have, so that its blocks fit into a cache.
inline constexpr std::size_t k_most_steps = 24;
inline constexpr std::size_t k_most_leaves = 16;

/// An operation whose elements are not computed yet. Each input is an array or another such
/// operation of the same shape.
struct pending {
    const kernel_row* row = nullptr;
    kernel of{};
    extents shape{};
    std::size_t inputs = 0;
    std::array<array, 3> arrays{};
    std::array<std::shared_ptr<const pending>, 3> parts{};  ///< null: it is an array
    std::size_t steps = 1;                                  ///< with those of the parts
    std::size_t leaves = 0;                                 ///< arrays, with those of the parts

    /// Of the loop.
    dtype input_type(std::size_t i) const noexcept {
        return i == 0 && row->condition_first ? dtype::boolean : of.computes;
    }
};

/// The elements. The same bits as if each operation had been run by itself: the loops are the
/// same. Parts are tasks where there are many. Throws std::bad_alloc.
array computed(const pending& last);

}  // namespace quern::arrays::detail
