// SPDX-License-Identifier: BSL-1.0
// A view refers to memory of its process, although it is trivially copyable.
#include <quern/localities/archive.hpp>

#include <optional>
#include <string>
#include <string_view>

#ifdef QUERN_MUST_COMPILE
using text = std::string;
#else
using text = std::string_view;
#endif

int main() { quern::localities::require_can_travel<std::optional<text>>(); }
