// SPDX-License-Identifier: BSL-1.0
// The primitives by family; table.cpp joins them.
#pragma once

#include <quern/arrays/primitive.hpp>

#include <span>

namespace quern::arrays::detail {

std::span<const primitive> elementwise_primitives() noexcept;
/// The name of the loops of such a primitive; empty for those that are more than loops or write in
/// place.
std::string_view loops_of(std::string_view name) noexcept;
std::span<const primitive> reduction_primitives() noexcept;
std::span<const primitive> shape_primitives() noexcept;
std::span<const primitive> indexing_primitives() noexcept;
std::span<const primitive> creation_primitives() noexcept;
std::span<const primitive> joining_primitives() noexcept;
std::span<const primitive> sorting_primitives() noexcept;
std::span<const primitive> random_primitives() noexcept;
std::span<const primitive> linear_algebra_primitives() noexcept;

}  // namespace quern::arrays::detail
