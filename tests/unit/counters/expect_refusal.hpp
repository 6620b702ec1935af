// SPDX-License-Identifier: BSL-1.0
// Shared by these tests: the text of an error.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace quern_test {

/// The message of the std::invalid_argument that f throws, or another text if it throws none.
template <class F>
std::string refusal_of(F&& f) {
    try {
        f();
    } catch (const std::invalid_argument& error) {
        return error.what();
    } catch (const std::exception& error) {
        return std::string("another exception: ") + error.what();
    }
    return "nothing was thrown";
}

inline void expect_part(std::string_view text, std::string_view part) {
    EXPECT_NE(text.find(part), std::string_view::npos) << "'" << part << "' is not in: " << text;
}

}  // namespace quern_test
