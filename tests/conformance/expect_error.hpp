// SPDX-License-Identifier: BSL-1.0
// Checks that a call throws std::future_error with a given code.
#pragma once

#include <future>

#include <gtest/gtest.h>

#include <optional>

namespace quern_test {

template <class F>
std::optional<std::future_errc> future_error_of(F&& f) {
    try {
        f();
    } catch (const std::future_error& e) {
        return static_cast<std::future_errc>(e.code().value());
    }
    return std::nullopt;
}

}  // namespace quern_test

#define QUERN_EXPECT_FUTURE_ERROR(statement, code) \
    EXPECT_EQ(quern_test::future_error_of([&] { (void)(statement); }), std::future_errc::code)
