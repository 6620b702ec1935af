// SPDX-License-Identifier: BSL-1.0
// sort, argsort, unique, nonzero, searchsorted and bincount give NumPy's elements.
#include "unit/arrays/primitive_calls.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace {

using quern::arrays::none;
using quern_test::array;
using quern_test::by_columns;
using quern_test::call;
using quern_test::elements;
using quern_test::extents;
using quern_test::line;
using quern_test::list;
using quern_test::matrix;
using quern_test::part;
using quern_test::reals;
using quern_test::shape;
using quern_test::value;
using quern_test::whole;
using quern_test::whole_line;
using quern_test::wholes;
using quern_test::words_of;

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

class array_sorting : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(array_sorting);

// Holds: sorting primitives: sort orders the lines along an axis, the last one by default.
TEST_P(array_sorting, sorts_along_an_axis) {
    inside([] {
        const array a = by_columns(matrix(2, 3, {3, 1, 2, 0, 5, 4}));
        EXPECT_EQ(elements(call("sort", {a})), (reals{1, 2, 3, 0, 4, 5}));
        EXPECT_EQ(elements(call("sort", {a, whole(0)})), (reals{0, 1, 2, 3, 5, 4}));
        EXPECT_EQ(elements(call("sort", {a, none{}})), (reals{0, 1, 2, 3, 4, 5}));
        EXPECT_EQ(elements<std::int64_t>(call("argsort", {a})), (wholes{1, 2, 0, 0, 2, 1}));
        EXPECT_EQ(shape(call("sort", {matrix(0, 3, {})})), (extents{0, 3}));
    });
}

// Holds: sorting primitives: NaN is behind all numbers.
TEST_P(array_sorting, puts_nan_last) {
    inside([] {
        const array a = line({k_nan, 2, -1, k_nan, std::numeric_limits<double>::infinity()});
        const reals sorted = elements(call("sort", {a}));
        EXPECT_EQ(sorted[0], -1);
        EXPECT_TRUE(std::isinf(sorted[2]));
        EXPECT_TRUE(std::isnan(sorted[3]) && std::isnan(sorted[4]));
        EXPECT_EQ(elements<std::int64_t>(call("argsort", {a})), (wholes{2, 1, 4, 0, 3}));
    });
}

// Holds: sorting primitives: Long lines are sorted by tasks; argsort is stable, so its result is
// one for any number of workers.
TEST_P(array_sorting, sorts_long_lines) {
    inside([] {
        const array a = quern_test::pattern({100'000}, 3);
        reals expected = elements(a);
        wholes order(expected.size());
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, {}, [&](std::int64_t i) { return a.data<double>()[i]; });
        EXPECT_EQ(elements<std::int64_t>(call("argsort", {a})), order);
        std::ranges::sort(expected);
        EXPECT_EQ(elements(call("sort", {a})), expected);
    });
}

// Holds: sorting primitives: unique gives the distinct elements in order, and where they were.
TEST_P(array_sorting, finds_distinct_elements) {
    inside([] {
        const array a = matrix(2, 3, {3, 1, 3, 2, 1, 3});
        EXPECT_EQ(elements(call("unique", {a})), (reals{1, 2, 3}));
        const value all = call("unique", {a, true, true, true});
        EXPECT_EQ(elements(part(all, 0)), (reals{1, 2, 3}));
        EXPECT_EQ(elements<std::int64_t>(part(all, 1)), (wholes{1, 3, 0}));
        EXPECT_EQ(elements<std::int64_t>(part(all, 2)), (wholes{2, 0, 2, 1, 0, 2}));
        EXPECT_EQ(shape(part(all, 2)), (extents{2, 3}));
        EXPECT_EQ(elements<std::int64_t>(part(all, 3)), (wholes{2, 1, 3}));
        EXPECT_EQ(elements(call("unique", {line({k_nan, 1, k_nan})})).size(), 2u);
        EXPECT_EQ(elements(call("unique", {line({})})), reals{});
    });
}

// Holds: sorting primitives: nonzero gives an array of indices for each dimension.
TEST_P(array_sorting, finds_elements_that_are_not_zero) {
    inside([] {
        const value found = call("nonzero", {matrix(2, 3, {0, 1, 0, 2, 0, k_nan})});
        EXPECT_EQ(elements<std::int64_t>(part(found, 0)), (wholes{0, 1, 1}));
        EXPECT_EQ(elements<std::int64_t>(part(found, 1)), (wholes{1, 0, 2}));
        const array a = quern_test::pattern({250'000}, 5);
        wholes expected;
        for (std::ptrdiff_t i = 0; i < a.size(); ++i) {
            if (a.data<double>()[i] != 0) expected.push_back(i);
        }
        EXPECT_EQ(elements<std::int64_t>(call("flatnonzero", {a})), expected);
        EXPECT_EQ(words_of([] { call("nonzero", {whole(1)}); }),
                  "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero()"
                  " instead.");
    });
}

// Holds: sorting primitives: searchsorted gives the first or the last place that keeps the order.
TEST_P(array_sorting, finds_places_in_order) {
    inside([] {
        const array a = line({1, 2, 2, 3});
        const array v = line({0, 2, 4, k_nan});
        EXPECT_EQ(elements<std::int64_t>(call("searchsorted", {a, v})), (wholes{0, 1, 4, 4}));
        EXPECT_EQ(elements<std::int64_t>(call("searchsorted", {a, v, std::string("right")})),
                  (wholes{0, 3, 4, 4}));
        EXPECT_EQ(elements<std::int64_t>(call("searchsorted", {a, 2.5})), (wholes{3}));
        const value sorter = whole_line({2, 0, 1});
        EXPECT_EQ(elements<std::int64_t>(call(
                      "searchsorted", {line({2, 3, 1}), whole(2), std::string("left"), sorter})),
                  (wholes{1}));
        EXPECT_EQ(words_of([&] {
                      call("searchsorted", {a, v, std::string("middle")});
                  }),
                  "search side must be 'left' or 'right' (got 'middle')");
    });
}

// Holds: sorting primitives: bincount counts whole numbers from 0, or sums weights.
TEST_P(array_sorting, counts_whole_numbers) {
    inside([] {
        const array x = whole_line({1, 3, 1});
        EXPECT_EQ(elements<std::int64_t>(call("bincount", {x})), (wholes{0, 2, 0, 1}));
        EXPECT_EQ(elements<std::int64_t>(call("bincount", {x, none{}, whole(6)})),
                  (wholes{0, 2, 0, 1, 0, 0}));
        EXPECT_EQ(elements(call("bincount", {x, line({.5, 2, 1})})), (reals{0, 1.5, 0, 2}));
        EXPECT_EQ(words_of([] { call("bincount", {whole_line({-1})}); }),
                  "'list' argument must have no negative elements");
        EXPECT_EQ(words_of([] { call("bincount", {line({1})}); }),
                  "Cannot cast array data from dtype('float64') to dtype('int64') according to the "
                  "rule 'safe'");
    });
}

}  // namespace
