// SPDX-License-Identifier: BSL-1.0
// The primitives by family; table.cpp joins them.
#pragma once

#include <quern/arrays/primitive.hpp>

#include <span>

namespace quern::arrays::detail {

std::span<const primitive> elementwise_primitives() noexcept;
std::span<const primitive> reduction_primitives() noexcept;
std::span<const primitive> shape_primitives() noexcept;
std::span<const primitive> indexing_primitives() noexcept;
std::span<const primitive> creation_primitives() noexcept;
std::span<const primitive> joining_primitives() noexcept;
std::span<const primitive> sorting_primitives() noexcept;
std::span<const primitive> random_primitives() noexcept;
std::span<const primitive> linear_algebra_primitives() noexcept;

}  // namespace quern::arrays::detail
