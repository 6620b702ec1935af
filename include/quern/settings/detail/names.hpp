// SPDX-License-Identifier: BSL-1.0
// The rule for names that users write: of settings, knobs and scheduling policies.
#pragma once

#include <string_view>

namespace quern::detail {

/// Throws std::invalid_argument unless the name is of a-z, 0-9, - and _. `what` is a row in the
/// message: "setting".
void require_spelt(std::string_view name, const char* what);

}  // namespace quern::detail
