// SPDX-License-Identifier: BSL-1.0
// Reductions along axes: results, types, empty arrays, errors, and the same bits for any number of
// workers.
#include "unit/arrays/primitive_calls.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace {

using quern::arrays::none;
using quern_test::array;
using quern_test::array_in;
using quern_test::by_columns;
using quern_test::call;
using quern_test::dtype;
using quern_test::elements;
using quern_test::extents;
using quern_test::filled_array;
using quern_test::line;
using quern_test::list;
using quern_test::matrix;
using quern_test::reals;
using quern_test::shape;
using quern_test::value;
using quern_test::whole;
using quern_test::whole_line;
using quern_test::wholes;
using quern_test::words_of;
using enum quern::arrays::dtype;

constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

class array_reductions : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(array_reductions);

array numbers(const extents& of) {
    std::mt19937 random(11);
    std::normal_distribution<double> number(0, 100);
    array made(float64, of);
    for (std::ptrdiff_t i = 0; i < made.size(); ++i) {
        made.data<double>()[i] = number(random);
    }
    return made;
}

// Holds: reductions: sum and the others go along the axes that are given.
TEST_P(array_reductions, go_along_axes) {
    inside([] {
        for (const array& a :
             {matrix(2, 3, {1, 2, 3, 4, 5, 6}), by_columns(matrix(2, 3, {1, 2, 3, 4, 5, 6}))}) {
            EXPECT_EQ(elements(call("sum", {a})), (reals{21}));
            EXPECT_EQ(elements(call("sum", {a, whole(0)})), (reals{5, 7, 9}));
            EXPECT_EQ(elements(call("sum", {a, whole(-1)})), (reals{6, 15}));
            EXPECT_EQ(elements(call("max", {a, whole(1)})), (reals{3, 6}));
            EXPECT_EQ(elements(call("mean", {a, whole(0)})), (reals{2.5, 3.5, 4.5}));
            EXPECT_EQ(elements(call("var", {a, whole(1)})), (reals{2.0 / 3, 2.0 / 3}));
            EXPECT_EQ(elements(call("std", {a, whole(1), whole(1)})), (reals{1, 1}));
            EXPECT_EQ(shape(call("sum", {a, whole(1), true})), (extents{2, 1}));
            EXPECT_EQ(elements(call("prod", {a, list({whole(0), whole(1)})})), (reals{720}));
            EXPECT_EQ(elements<std::int64_t>(call("argmax", {a, whole(0)})), (wholes{1, 1, 1}));
            EXPECT_EQ(elements(call("cumsum", {a, whole(1)})), (reals{1, 3, 6, 4, 9, 15}));
            EXPECT_EQ(elements(call("cumprod", {a})), (reals{1, 2, 6, 24, 120, 720}));
            EXPECT_EQ(elements(call("ptp", {a, whole(1)})), (reals{2, 2}));
        }
    });
}

// Holds: reductions: Sums lie within the stated bound.
TEST_P(array_reductions, lie_within_their_bound) {
    inside([] {
        for (const extents& of : {extents{1'000'003}, extents{1003, 997}, extents{97, 101, 103},
                                  extents{250'000, 4}, extents{4, 250'000}}) {
            const array a = numbers(of);
            long double exact = 0;
            long double sizes = 0;
            for (const double x : elements(value(a))) {
                exact += static_cast<long double>(x);
                sizes += std::fabs(static_cast<long double>(x));
            }
            constexpr double k_eps = std::numeric_limits<double>::epsilon();
            const double bound = (128 + std::log2(double(a.size()))) * k_eps * double(sizes);
            EXPECT_NEAR(elements(call("sum", {a}))[0], static_cast<double>(exact), bound);
            double by_columns_first = 0;
            for (const double x : elements(call("sum", {a, whole(0)}))) {
                by_columns_first += x;
            }
            EXPECT_NEAR(by_columns_first, static_cast<double>(exact), 1024 * bound);
        }
    });
}

std::vector<char> bytes_of(const value& of) {
    const array& a = array_in(of);
    std::vector<char> all(static_cast<std::size_t>(a.size()) * quern::arrays::size_of(a.type()));
    std::memcpy(all.data(), a.bytes(), all.size());
    return all;
}

// Holds: reductions: The bits are the same for any number of workers and without a task.
TEST(array_reductions_order, does_not_depend_on_workers) {
    for (const extents& of : {extents{700'001}, extents{801, 907}, extents{90, 91, 92},
                              extents{200'000, 3}, extents{3, 200'000}}) {
        const array a = numbers(of);
        for (const char* const name : {"sum", "mean", "std", "prod", "max", "argmin"}) {
            for (const value& axis : {value(none()), whole(0), whole(-1)}) {
                const std::vector<char> plain = bytes_of(call(name, {a, axis}));
                for (const unsigned workers : {1U, 2U, 8U}) {
                    quern::runtime rt(quern::runtime_options::with_workers(workers));
                    const auto compute = [&] { return call(name, {a, axis}); };
                    EXPECT_EQ(bytes_of(quern::async(rt, compute).get()), plain) << name;
                }
            }
        }
    }
}

// Holds: reductions: Integers and booleans are added in int64.
TEST(array_reductions_types, are_numpys) {
    const array narrow = filled_array<std::int32_t>({2}, {2'000'000'000, 2'000'000'000});
    EXPECT_EQ(elements<std::int64_t>(call("sum", {narrow})), (wholes{4'000'000'000}));
    const array flags = filled_array<bool>({3}, {1, 0, 1});
    EXPECT_EQ(elements<std::int64_t>(call("sum", {flags})), (wholes{2}));
    EXPECT_EQ(elements<std::int64_t>(call("count_nonzero", {flags})), (wholes{2}));
    EXPECT_EQ(elements<bool>(call("any", {flags})), (std::vector<char>{1}));
    EXPECT_EQ(elements<bool>(call("all", {flags})), (std::vector<char>{0}));
    EXPECT_EQ(elements<std::int32_t>(call("max", {narrow})),
              (std::vector<std::int32_t>{2'000'000'000}));
    EXPECT_EQ(elements(call("mean", {narrow})), (reals{2e9}));
    EXPECT_EQ(array_in(call("mean", {filled_array<float>({2}, {1, 2})})).type(), float32);
    EXPECT_EQ(elements<float>(call("sum", {whole_line({1, 2}), none(), false, float32})),
              (std::vector<float>{3}));
}

// Holds: reductions: A number that is none wins.
TEST(array_reductions_types, keep_what_is_no_number) {
    const array a = line({1, k_nan, 3, k_nan});
    EXPECT_TRUE(std::isnan(elements(call("max", {a}))[0]));
    EXPECT_TRUE(std::isnan(elements(call("sum", {a}))[0]));
    EXPECT_EQ(elements<std::int64_t>(call("argmin", {a})), (wholes{1}));
    EXPECT_EQ(elements<std::int64_t>(call("argmin", {line({3, 1, 1})})), (wholes{1}));
}

// Holds: reductions: Empty arrays have NumPy's values and messages.
TEST(array_reductions_errors, are_numpys) {
    const array empty = line({});
    EXPECT_EQ(elements(call("sum", {empty})), (reals{0}));
    EXPECT_EQ(elements(call("prod", {empty})), (reals{1}));
    EXPECT_TRUE(std::isnan(elements(call("mean", {empty}))[0]));
    EXPECT_EQ(shape(call("max", {array(float64, {0, 3}), whole(1)})), (extents{0}));
    EXPECT_EQ(words_of([&] { call("max", {empty}); }),
              "zero-size array to reduction operation maximum which has no identity");
    EXPECT_EQ(words_of([&] { call("argmin", {empty}); }),
              "attempt to get argmin of an empty sequence");
    EXPECT_EQ(words_of([&] {
                  call("sum", {empty, whole(1)});
              }),
              "axis 1 is out of bounds for array of dimension 1");
    EXPECT_EQ(words_of([&] {
                  call("sum", {empty, list({whole(0), whole(-1)})});
              }),
              "duplicate value in 'axis'");
}

}  // namespace
