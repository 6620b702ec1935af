// SPDX-License-Identifier: BSL-1.0
// The text of the std::invalid_argument that a call throws, for tests of messages.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace quern_test {

/// "no error" if there is none.
template <class F>
std::string error_of(F&& f) {
    try {
        std::forward<F>(f)();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace quern_test
