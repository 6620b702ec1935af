// SPDX-License-Identifier: BSL-1.0
// The parameters of primitives, as text: "a, axis=None, keepdims=False".
#pragma once

#include <quern/arrays/value.hpp>

#include <optional>
#include <string_view>
#include <vector>

namespace quern::arrays::detail {

struct parameter {
    std::string_view name;
    std::optional<value> preset;  ///< what follows "="; none: the operand must be given
};

/// Defaults are None, True, False, numbers, and text in single quotes.
std::vector<parameter> parameters_of(std::string_view text);

}  // namespace quern::arrays::detail
