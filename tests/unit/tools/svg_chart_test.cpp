// SPDX-License-Identifier: BSL-1.0
// Charts: axes and their numbers, what is left out, and that no text gets out of its place.
#include "svg_chart.hpp"
#include "svg_axis.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace {

using namespace quern::tool;

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++found;
    }
    return found;
}

chart with_points(std::vector<chart_point> points) {
    chart made;
    made.title = "a < b";
    made.series = {{"one & only", std::move(points)}};
    return made;
}

TEST(Axis, IsLogarithmicOrNot) {
    const axis log{1, 100, 0, 200, true};
    EXPECT_DOUBLE_EQ(log.place(10), 100);
    const axis linear{0, 100, 200, 0, false};
    EXPECT_DOUBLE_EQ(linear.place(25), 150);
}

TEST(Axis, HasTicksWithRoomForTheirNumbers) {
    EXPECT_EQ(log_ticks({1, 100, 0, 1000, true}, 100),
              (std::vector<double>{1, 2, 5, 10, 20, 50, 100}));
    EXPECT_EQ(log_ticks({1, 100, 0, 310, true}, 100), (std::vector<double>{1, 10, 100}));
    EXPECT_EQ(linear_ticks({0, 10, 0, 100, false}, 20), (std::vector<double>{0, 2, 4, 6, 8, 10}));
    EXPECT_EQ(linear_ticks({-1, 1, 0, 100, false}, 50), (std::vector<double>{-1, 0, 1}));
}

TEST(ShortNumber, HasPrefixes) {
    EXPECT_EQ(short_number(0), "0");
    EXPECT_EQ(short_number(999), "999");
    EXPECT_EQ(short_number(1000), "1k");
    EXPECT_EQ(short_number(2'500'000), "2.5M");
    EXPECT_EQ(short_number(-0.05), "-0.05");
}

TEST(Chart, DrawsEachPointWithItsTitle) {
    const std::string svg = as_svg(with_points({{1, 1, 0.5, 2, "first"}, {10, 2, 2, 2, "second"}}));
    EXPECT_EQ(count_of(svg, "<title>first</title>"), 1u);
    EXPECT_EQ(count_of(svg, "<title>second</title>"), 1u);
    EXPECT_EQ(count_of(svg, "whisker"), 1u);
    EXPECT_EQ(count_of(svg, "<svg "), count_of(svg, "</svg>"));
}

TEST(Chart, EscapesWhatItIsTold) {
    const std::string svg = as_svg(with_points({{1, 1, 1, 1, "<script>\"&"}}));
    EXPECT_EQ(count_of(svg, "<script>"), 0u);
    EXPECT_NE(svg.find("&lt;script&gt;&quot;&amp;"), std::string::npos);
    EXPECT_NE(svg.find("one &amp; only"), std::string::npos);
    EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
}

TEST(Chart, LeavesOutWhatCannotBeDrawn) {
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(as_svg(with_points({})), "");
    EXPECT_EQ(as_svg(with_points({{1, unknown, 1, 1, "x"}})), "");
    chart logarithmic = with_points({{1, 0, 0, 0, "zero"}, {2, 3, -1, 4, "three"}});
    logarithmic.has_log_y = true;
    const std::string svg = as_svg(logarithmic);
    EXPECT_EQ(count_of(svg, "<title>zero</title>"), 0u);
    EXPECT_EQ(count_of(svg, "<title>three</title>"), 1u);
    EXPECT_EQ(count_of(svg, "nan"), 0u);
    EXPECT_EQ(count_of(svg, "inf"), 0u);
}

TEST(Chart, HasNoGapsWhereEverythingIsEqual) {
    const std::string svg = as_svg(with_points({{5, 0, 0, 0, "a"}, {5, 0, 0, 0, "b"}}));
    EXPECT_EQ(count_of(svg, "nan"), 0u);
    EXPECT_EQ(count_of(svg, "inf"), 0u);
}

}  // namespace
