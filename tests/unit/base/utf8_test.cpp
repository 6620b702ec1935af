// SPDX-License-Identifier: BSL-1.0
// Which bytes are a UTF-8 character: the limits of RFC 3629, section 4.
#include <quern/base/detail/utf8.hpp>

#include <gtest/gtest.h>

#include <string_view>

namespace {

using quern::detail::utf8_length;

TEST(utf8_length, is_that_of_the_first_character) {
    EXPECT_EQ(utf8_length("ab"), 1U);
    EXPECT_EQ(utf8_length(std::string_view("\0", 1)), 1U);
    EXPECT_EQ(utf8_length("\x7f"), 1U);
    EXPECT_EQ(utf8_length("\xc2\x80x"), 2U);
    EXPECT_EQ(utf8_length("\xdf\xbf"), 2U);
    EXPECT_EQ(utf8_length("\xe0\xa0\x80"), 3U);
    EXPECT_EQ(utf8_length("\xef\xbf\xbf"), 3U);
    EXPECT_EQ(utf8_length("\xf0\x90\x80\x80"), 4U);
    EXPECT_EQ(utf8_length("\xf4\x8f\xbf\xbf"), 4U);
}

TEST(utf8_length, is_0_for_what_is_no_character) {
    EXPECT_EQ(utf8_length("\x80"), 0U);  // a continuation byte
    EXPECT_EQ(utf8_length("\xc3"), 0U);  // truncated
    EXPECT_EQ(utf8_length("\xe2\x82"), 0U);
    EXPECT_EQ(utf8_length("\xe2\x82x"), 0U);
    EXPECT_EQ(utf8_length("\xc0\x80"), 0U);  // overlong
    EXPECT_EQ(utf8_length("\xe0\x9f\xbf"), 0U);
    EXPECT_EQ(utf8_length("\xf0\x8f\xbf\xbf"), 0U);
    EXPECT_EQ(utf8_length("\xed\xa0\x80"), 0U);      // a surrogate
    EXPECT_EQ(utf8_length("\xf4\x90\x80\x80"), 0U);  // beyond the last code point
    EXPECT_EQ(utf8_length("\xf5\x80\x80\x80"), 0U);
}

}  // namespace
