// SPDX-License-Identifier: BSL-1.0
// Parameters and spaces: values and coordinates, rules, and the errors.
#include <quern/adaptation/space.hpp>

#include "unit/adaptation/error_of.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

namespace {

using namespace quern::adaptation;  // NOLINT(google-build-using-namespace): the subject
using quern_test::error_of;

/// Every cell gives a value of the range, and the value gives the cell.
void check_cells(const parameter& of) {
    std::set<double> values;
    for (std::size_t i = 0; i < of.cells(); ++i) {
        const double middle = (static_cast<double>(i) + 0.5) / static_cast<double>(of.cells());
        const double value = of.value_at(middle);
        values.insert(value);
        EXPECT_GE(value, of.least());
        EXPECT_LE(value, of.most());
        EXPECT_NEAR(of.coordinate_of(value), middle, 1e-9) << of.name() << " " << value;
    }
    EXPECT_EQ(values.size(), of.cells());
    EXPECT_EQ(of.value_at(0), of.least());
    EXPECT_EQ(of.value_at(1), of.most());
}

// Holds: space: A parameter with cells is a grid over its range.
TEST(space_test, cells_are_values) {
    check_cells(integer("x", -3, 10));
    check_cells(integer("x", 8, 512, 8));
    check_cells(integer("x", 7, 7));
    check_cells(power_of_two("x", 1, 1024));
    check_cells(power_of_two("x", 64, 64));
    check_cells(choice("x", {"a", "b", "c"}));
    EXPECT_EQ(integer("x", 0, 10, 4).most(), 8);  // 12 would be outside
    EXPECT_EQ(real("x", 0, 1).cells(), 0U);
}

// Holds: space: by_ratio() divides a range into equal ratios.
TEST(space_test, ratios_are_equal) {
    const parameter sizes = integer("size", 1'000, 50'000'000).by_ratio();
    EXPECT_GT(sizes.cells(), 40U);
    EXPECT_LT(sizes.cells(), 60U);
    EXPECT_EQ(sizes.value_at(0), 1'000);
    EXPECT_EQ(sizes.value_at(1), 50'000'000);
    EXPECT_NEAR(sizes.start(), std::sqrt(1e3 * 5e7), 1e5);
    double before = sizes.value_at(0);
    for (std::size_t i = 1; i < sizes.cells(); ++i) {
        const double next =
            sizes.value_at((static_cast<double>(i) + 0.5) / static_cast<double>(sizes.cells()));
        EXPECT_NEAR(next / before, 1.25, 0.02);
        before = next;
    }
    const parameter reals = real("f", 0.01, 100).by_ratio();
    EXPECT_NEAR(reals.value_at(0.5), 1, 1e-12);
    EXPECT_NEAR(reals.coordinate_of(10), 0.75, 1e-12);
}

// Holds: space: Errors name the parameter, the value, what is accepted and the nearest.
TEST(space_test, refuses_bad_parameters) {
    EXPECT_EQ(error_of([] { integer("x", 10, 1); }),
              "quern: parameter 'x': the range from 10 to 1 is empty; accepted: a least value that "
              "is not above the most, as from 1 to 10");
    EXPECT_EQ(error_of([] { integer("x", 1, 10, 0); }),
              "quern: parameter 'x': a step of 0; accepted: whole numbers from 1 on");
    EXPECT_EQ(error_of([] { real("x", 0, std::nan("")); }),
              "quern: parameter 'x': the range from 0 to nan is not finite; accepted: finite "
              "numbers");
    EXPECT_NE(error_of([] { real("x", 0, std::numeric_limits<double>::infinity()); }), "no error");
    EXPECT_EQ(error_of([] { power_of_two("x", 8, 100); }),
              "quern: parameter 'x': 100 is no power of two; the nearest below is 64");
    EXPECT_EQ(error_of([] { choice("x", {}); }),
              "quern: parameter 'x': a choice of no words; accepted: one or more");
    EXPECT_EQ(error_of([] {
                  choice("x", {"a", "a"});
              }),
              "quern: parameter 'x': the word 'a' is there twice");
    EXPECT_EQ(error_of([] { integer("", 1, 2); }), "quern: a parameter needs a name");
    EXPECT_EQ(error_of([] { integer("x", 0, 2).by_ratio(); }),
              "quern: parameter 'x': cannot be divided by ratio; accepted: numbers above 0");
}

// Holds: space: A start outside of the range is refused with the nearest value.
TEST(space_test, refuses_bad_starts) {
    EXPECT_EQ(error_of([] { integer("x", 8, 512, 8).starting_at(1000); }),
              "quern: parameter 'x': start at 1000; accepted: a whole number from 8 to 512 in "
              "steps of 8; the nearest is 512");
    EXPECT_EQ(error_of([] { integer("x", 8, 512, 8).starting_at(13); }),
              "quern: parameter 'x': start at 13; accepted: a whole number from 8 to 512 in steps "
              "of 8; the nearest is 16");
    EXPECT_EQ(error_of([] { power_of_two("x", 1, 64).starting_at(20); }),
              "quern: parameter 'x': start at 20; accepted: a power of two from 1 to 64; the "
              "nearest is 16");
    EXPECT_NE(error_of([] { real("x", 0, 1).starting_at(std::nan("")); }), "no error");
    EXPECT_EQ(
        error_of([] {
            choice("x", {"rows", "columns"}).starting_at("row");
        }),
        "quern: parameter 'x': start at 'row'; accepted: rows, columns; did you mean 'rows'?");
    EXPECT_EQ(space({choice("x", {"rows", "columns"}).starting_at("columns")}).start().word("x"),
              "columns");
}

// Holds: space: Points give values by name; an unknown name is refused with the nearest.
TEST(space_test, points_give_values_by_name) {
    const space where(
        {integer("tile", 8, 512, 8).starting_at(64), choice("order", {"rows", "columns"})});
    const point start = where.start();
    EXPECT_EQ(start["tile"], 64);
    EXPECT_EQ(start.text(), "tile=64, order=rows");
    EXPECT_EQ(error_of([&] { static_cast<void>(start["tiles"]); }),
              "quern: no parameter 'tiles': accepted: tile, order; did you mean 'tile'?");
    EXPECT_EQ(where.size(), 128U);
    EXPECT_EQ(space({real("x", 0, 1)}).size(), 0U);
}

// Holds: space: Spaces that are empty, have a name twice, or allow no point are refused.
TEST(space_test, refuses_empty_spaces) {
    EXPECT_EQ(error_of([] { space({}); }),
              "quern: a space without parameters; accepted: one or more");
    EXPECT_EQ(error_of([] {
                  space({integer("x", 1, 2), real("x", 0, 1)});
              }),
              "quern: parameter 'x': is there twice");
    space where({integer("x", 1, 10)});
    EXPECT_EQ(error_of([&] { where.require([](auto&) { return false; }, "never"); }),
              "quern: no point satisfies 'never': tried all 10");
    space wide({real("x", 0, 1)});
    EXPECT_EQ(error_of([&] { wide.require([](auto& p) { return p["x"] > 2; }, "x above 2"); }),
              "quern: no point satisfies 'x above 2': tried 100000 at random");
    EXPECT_NE(error_of([&] { wide.require(nullptr, "nothing"); }), "no error");
}

// Holds: space: If the start is forbidden, a search begins at an allowed point.
TEST(space_test, begins_at_an_allowed_point) {
    space where({integer("x", 0, 100)});
    where.require([](const point& p) { return p["x"] >= 90; }, "x from 90 on");
    EXPECT_GE(where.start()["x"], 90);
}

}  // namespace
