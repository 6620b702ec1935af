// SPDX-License-Identifier: BSL-1.0
// Numbers and JSON as text: the one rule for each.
#include <quern/base/detail/json.hpp>
#include <quern/base/detail/text.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace quern::detail;

TEST(text, of_numbers_has_the_digits_that_are_asked_for) {
    EXPECT_EQ(exact_number(0.1), "0.1");
    EXPECT_EQ(exact_number(1.0 / 3), "0.3333333333333333");
    EXPECT_EQ(fixed(2.5, 3), "2.500");
    EXPECT_EQ(fixed(1e308, 0).size(), 309U);
    EXPECT_EQ(rounded(1.0 / 3), "0.3333");
    EXPECT_EQ(rounded(1234.5678, 6), "1234.57");
    EXPECT_EQ(short_number(1.234), "1.23");
    EXPECT_EQ(short_number(12.34), "12.3");
    EXPECT_EQ(short_number(99.96), "100");
    EXPECT_EQ(short_number(0), "0");
}

TEST(text, of_quantities_has_the_unit_that_fits) {
    EXPECT_EQ(duration_words(45.6), "46 ns");
    EXPECT_EQ(duration_words(999.6), "1.00 µs");
    EXPECT_EQ(duration_words(-2e6), "-2.00 ms");
    EXPECT_EQ(duration_words(7.894e12), "7894 s");
    EXPECT_EQ(duration_words(1'234'567, precision::up_to_four), "1.235 ms");
    EXPECT_EQ(duration_words(12.5, precision::up_to_four), "12.5 ns");
    EXPECT_EQ(bytes_words(512), "512 B");
    EXPECT_EQ(bytes_words(1536), "1.5 KiB");
    EXPECT_EQ(bytes_words(3.0 * (1ULL << 40)), "3 TiB");
    EXPECT_EQ(bytes_words(222'298'112, precision::three), "212 MiB");
    EXPECT_EQ(amount_words(0), "0");
    EXPECT_EQ(amount_words(935), "935");
    EXPECT_EQ(amount_words(1.5), "1.50");
    EXPECT_EQ(amount_words(999.7), "1.00 k");
    EXPECT_EQ(amount_words(1'890), "1.89 k");
    EXPECT_EQ(amount_words(2.5e12), "2.50 T");
    EXPECT_EQ(percent_words(0.0004), "< 0.1 %");
    EXPECT_EQ(percent_words(0.004), "0.4 %");
    EXPECT_EQ(percent_words(0.62), "62 %");
    EXPECT_EQ(percent_words(0), "0 %");
    EXPECT_EQ(count_words(12'345'678), "12,345,678");
    EXPECT_EQ(count_words(1, "task"), "1 task");
    EXPECT_EQ(count_words(1000, "task"), "1,000 tasks");
}

TEST(text, in_a_column_counts_characters) {
    EXPECT_EQ(right("µs", 4), "  µs");
    EXPECT_EQ(left("µs", 4), "µs  ");
    EXPECT_EQ(right("longer", 4), "longer");
}

TEST(text, that_is_cleaned_is_utf8_of_limited_size) {
    EXPECT_EQ(clean_text("a\xff\xe2\x82z"), "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
    EXPECT_EQ(clean_text("abcdef", 3), "abc…");
    EXPECT_EQ(clean_text("µµ", 1), "µ…");
}

TEST(text, is_a_finite_number_if_all_of_it_is_one) {
    EXPECT_EQ(finite_number("0.1"), 0.1);
    EXPECT_EQ(finite_number("-.5e2"), -50);
    EXPECT_EQ(finite_number("3."), 3);
    EXPECT_EQ(finite_number("4.9406564584124654e-324"), std::numeric_limits<double>::denorm_min());
    for (const char* const other : {"", " 1", "1 ", "+1", "-", "--1", ".", "1e", "0x1", "1,5",
                                    "inf", "nan", "1e400", "-1e400", "1e-400"}) {
        EXPECT_EQ(finite_number(other), std::nullopt) << other;
    }
}

TEST(text, of_one_line_has_escapes_for_control_characters) {
    EXPECT_EQ(one_line("a\nb\t\x1b[31m\x7f\r"), "a\\nb\\t\\x1b[31m\\x7f\\r");
    EXPECT_EQ(one_line(std::string_view("\0\a\v", 3)), "\\x00\\a\\v");
    EXPECT_EQ(one_line("µ \xff", 4), "µ \xef\xbf\xbd");
    EXPECT_EQ(one_line("abcdef", 3), "abc…");
}

TEST(json, has_commas_and_brackets_where_they_belong) {
    json out;
    out.open('{').fields("a", 1, "b", true, "c", "x", "d", 0.5).open('[', "e").item(-1).item("y");
    out.close().open('{', "f").close().plain("QUJD", "g").list("h", std::vector{1, 2});
    EXPECT_EQ(out.take(),
              "{\"a\":1,\"b\":true,\"c\":\"x\",\"d\":0.5,\"e\":[-1,\"y\"],\"f\":{},\"g\":\"QUJD\","
              "\"h\":[1,2]}\n");
}

TEST(json, closes_what_is_open) {
    json out;
    out.open('{').open('[', "a").open('{');
    EXPECT_EQ(out.take(), "{\"a\":[{}]}\n");
}

TEST(json, is_indented_where_people_read_it) {
    json out(json::layout::indented);
    out.open('{').field("a", 1).open('[', "b").open('{').field("c", 2).close().close();
    out.list("d", std::vector{1, 2}).open('[', "e").close();
    EXPECT_EQ(out.take(),
              "{\n  \"a\": 1,\n  \"b\": [\n    {\n      \"c\": 2\n    }\n  ],\n"
              "  \"d\": [1,2],\n  \"e\": []\n}\n");
}

TEST(json, has_null_for_a_number_that_is_not_finite) {
    json out;
    out.open('[').item(std::nan("")).item(std::numeric_limits<double>::infinity()).item(1e300);
    EXPECT_EQ(out.take(), "[null,null,1e+300]\n");
}

TEST(json, leaves_out_a_field_without_a_value) {
    json out;
    out.open('{').fields("a", std::optional<int>(), "b", std::optional<int>(0));
    EXPECT_EQ(out.take(), "{\"b\":0}\n");
}

TEST(json, escapes_text_so_that_it_may_stand_in_a_page) {
    json out;
    out.open('[').item("\"\\\n\x01\x7f</script>&µ\xff");
    EXPECT_EQ(out.take(),
              "[\"\\\"\\\\\\n\\u0001\\u007f\\u003c/script\\u003e\\u0026µ\xef\xbf\xbd\"]\n");
}

TEST(json, cuts_text_where_a_limit_is_set) {
    json out;
    out.open('[').item("abcdef").longest(3).item("abcdef").item("abc");
    EXPECT_EQ(out.take(), "[\"abcdef\",\"abc…\",\"abc\"]\n");
}

}  // namespace
