// SPDX-License-Identifier: BSL-1.0
// The verdicts of the explorer's tests, and two words that most of their programs share. Included
// by the tests of this folder, also those of the runtime's protocols. A pass that is not exhaustive
// must never satisfy EXPECT_PASSES.
#pragma once

#include "explorer.hpp"

#include <gtest/gtest.h>

#define EXPECT_PASSES(r) EXPECT_TRUE((r).ok() && (r).exhaustive) << (r).report()
#define EXPECT_FAILS(r, expected) EXPECT_EQ((r).kind, model::failure::expected) << (r).report()

namespace model {

struct words {
    atomic<std::uint32_t> x{0}, y{0};
    var<int> data{0};
    int seen = 0;
};

}  // namespace model
