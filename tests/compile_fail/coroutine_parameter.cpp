// SPDX-License-Identifier: BSL-1.0
// A coroutine that would use a temporary after its end.
#include <quern/task/coroutine.hpp>

#include <string>
#include <utility>

#ifdef QUERN_MUST_COMPILE
using parameter = std::string;
#else
using parameter = std::string&&;
#endif

quern::task<std::size_t> length(parameter text) { co_return text.size(); }

int main() { static_cast<void>(quern::start(length, std::string("text")).get()); }
