// SPDX-License-Identifier: BSL-1.0
// Elementwise primitives: types, broadcasting, strides, Python's scalars, and errors.
#include "unit/arrays/primitive_calls.hpp"

#include <quern/arrays/errors.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace {

using quern_test::array;
using quern_test::array_in;
using quern_test::by_columns;
using quern_test::call;
using quern_test::dtype;
using quern_test::elements;
using quern_test::extents;
using quern_test::filled_array;
using quern_test::line;
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
constexpr double k_infinite = std::numeric_limits<double>::infinity();
constexpr std::int32_t k_least = std::numeric_limits<std::int32_t>::min();

array narrow_line(const std::vector<std::int32_t>& of) {
    return filled_array<std::int32_t>({static_cast<std::ptrdiff_t>(of.size())}, of);
}
array flag_line(const std::vector<char>& of) {
    return filled_array<bool>({static_cast<std::ptrdiff_t>(of.size())}, of);
}
array single_line(const std::vector<float>& of) {
    return filled_array<float>({static_cast<std::ptrdiff_t>(of.size())}, of);
}
dtype type_of(const value& of) { return array_in(of).type(); }

class array_elements : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(array_elements);

/// Every other element, or backwards, of an array with more.
array strided(const array& from, std::ptrdiff_t step) {
    const std::ptrdiff_t n = from.size() / std::abs(step);
    return from.view({n}, {8 * step}, step < 0 ? 8 * (from.size() - 1) : 0);
}

// Holds: elementwise primitives: Results are those of a plain loop for strides of all kinds.
TEST_P(array_elements, are_those_of_a_loop) {
    inside([] {
        std::mt19937 random(5);
        std::uniform_real_distribution<double> number(-9, 9);
        for (const std::ptrdiff_t n : {0, 1, 7, 1000, 200'000}) {
            array a(float64, {n});
            array b(float64, {n});
            for (std::ptrdiff_t i = 0; i < n; ++i) {
                a.data<double>()[i] = number(random);
                b.data<double>()[i] = number(random);
            }
            for (const std::ptrdiff_t step : {1, 2, -1, -3}) {
                const array x = strided(a, step);
                const array y = strided(b, -step);
                const reals in = elements(value(x));
                const reals by = elements(value(y));
                const reals sum = elements(call("add", {x, y}));
                const reals scaled = elements(call("multiply", {x, 0.5}));
                const reals root = elements(call("sqrt", {call("absolute", {y})}));
                ASSERT_EQ(sum.size(), in.size());
                for (std::size_t i = 0; i < in.size(); ++i) {
                    ASSERT_EQ(sum[i], in[i] + by[i]);
                    ASSERT_EQ(scaled[i], in[i] * 0.5);
                    ASSERT_EQ(root[i], std::sqrt(std::fabs(by[i])));
                }
            }
        }
    });
}

// Holds: elementwise primitives: Shapes are broadcast as in NumPy.
TEST_P(array_elements, are_broadcast) {
    inside([] {
        const array row = line({10, 20, 30});
        const array column = filled_array<double>({2, 1}, {1, 2});
        EXPECT_EQ(elements(call("add", {column, row})), (reals{11, 21, 31, 12, 22, 32}));
        EXPECT_EQ(shape(call("add", {array(float64, {0, 3}), row})), (extents{0, 3}));
        EXPECT_EQ(elements(call("add", {by_columns(matrix(2, 3, {1, 2, 3, 4, 5, 6})), row})),
                  (reals{11, 22, 33, 14, 25, 36}));
        const array tall = call("add", {array(float64, {50'000, 1}), row}).as<array>()[0];
        EXPECT_EQ(tall.shape(), (extents{50'000, 3}));
        EXPECT_EQ(words_of([&] {
                      call("where", {flag_line({1, 0}), row, 1.0});
                  }),
                  "operands could not be broadcast together with shapes (2,) (3,) ()");
    });
}

// Holds: elementwise primitives: Types are promoted as in NumPy.
TEST(array_promotion, is_that_of_numpy) {
    EXPECT_EQ(type_of(call("add", {narrow_line({1}), single_line({1})})), float64);
    EXPECT_EQ(type_of(call("add", {flag_line({1}), single_line({1})})), float32);
    EXPECT_EQ(type_of(call("divide", {narrow_line({1}), narrow_line({2})})), float64);
    EXPECT_EQ(type_of(call("divide", {flag_line({1}), flag_line({1})})), float64);
    EXPECT_EQ(type_of(call("sqrt", {narrow_line({4})})), float64);
    EXPECT_EQ(type_of(call("sqrt", {single_line({4})})), float32);
    EXPECT_EQ(type_of(call("floor", {whole_line({4})})), int64);
    EXPECT_EQ(type_of(call("less", {whole_line({4}), 4.5})), boolean);
    EXPECT_EQ(elements<bool>(call("add", {flag_line({1, 0}), flag_line({1, 0})})),
              (std::vector<char>{1, 0}));
}

// Holds: elementwise primitives: Python's scalars are weak.
TEST(array_promotion, takes_scalars_as_weak) {
    EXPECT_EQ(type_of(call("add", {single_line({1}), 1.0})), float32);
    EXPECT_EQ(type_of(call("add", {narrow_line({1}), whole(1)})), int32);
    EXPECT_EQ(type_of(call("add", {narrow_line({1}), 1.0})), float64);
    EXPECT_EQ(type_of(call("add", {flag_line({1}), whole(1)})), int64);
    EXPECT_EQ(type_of(call("add", {flag_line({1}), true})), boolean);
    EXPECT_EQ(type_of(call("where", {flag_line({1}), single_line({1}), 1.0})), float32);
    const array strong = filled_array<double>({}, {1});
    EXPECT_EQ(type_of(call("add", {single_line({1}), strong})), float64);
}

// Holds: elementwise primitives: An integer that does not fit the array's type is an overflow.
TEST(array_promotion, refuses_integers_that_do_not_fit) {
    const value large = whole(3'000'000'000);
    EXPECT_THROW(call("add", {narrow_line({1}), large}), std::overflow_error);
    EXPECT_EQ(words_of([&] {
                  call("add", {narrow_line({1}), large});
              }),
              "Python integer 3000000000 out of bounds for int32");
    EXPECT_EQ(elements<bool>(call("less", {narrow_line({1}), large})), (std::vector<char>{1}));
}

// Holds: elementwise primitives: Integers wrap, and divided by 0 they give 0.
TEST(array_integers, follow_numpys_rules) {
    const array a = narrow_line({7, -7, 7, -7, 5, k_least});
    const array b = narrow_line({2, 2, -2, -2, 0, -1});
    using narrow = std::vector<std::int32_t>;
    EXPECT_EQ(elements<std::int32_t>(call("floor_divide", {a, b})),
              (narrow{3, -4, -4, 3, 0, k_least}));
    EXPECT_EQ(elements<std::int32_t>(call("remainder", {a, b})), (narrow{1, 1, -1, -1, 0, 0}));
    EXPECT_EQ(elements<std::int32_t>(call("add", {narrow_line({k_least}), whole(-1)})),
              (narrow{std::numeric_limits<std::int32_t>::max()}));
    EXPECT_EQ(
        elements<std::int32_t>(call("left_shift", {narrow_line({1, 1}), narrow_line({4, 40})})),
        (narrow{16, 0}));
    EXPECT_EQ(elements<std::int64_t>(call("power", {whole_line({2, -3}), whole(5)})),
              (wholes{32, -243}));
    EXPECT_EQ(words_of([] {
                  call("power", {whole_line({2}), whole_line({-1})});
              }),
              "Integers to negative integer powers are not allowed.");
}

// Holds: elementwise primitives: What is not a number is treated as in NumPy.
TEST(array_floats, follow_numpys_rules) {
    const array a = line({k_nan, 1, -0.0, k_infinite});
    const array b = line({1, k_nan, 0, -k_infinite});
    const reals least = elements(call("minimum", {a, b}));
    EXPECT_TRUE(std::isnan(least[0]) && std::isnan(least[1]));
    EXPECT_EQ(elements(call("fmin", {a, b})), (reals{1, 1, 0, -k_infinite}));
    EXPECT_EQ(elements<bool>(call("isnan", {a})), (std::vector<char>{1, 0, 0, 0}));
    EXPECT_EQ(elements(call("floor_divide", {line({-1, 5}), line({3, -2})})), (reals{-1, -3}));
    EXPECT_EQ(elements(call("remainder", {line({-1, 5}), line({3, -2})})), (reals{2, -1}));
    EXPECT_EQ(elements(call("divide", {line({1, -1}), line({0, 0})})),
              (reals{k_infinite, -k_infinite}));
    EXPECT_EQ(elements(call("clip", {line({-5, 0, 5}), whole(-1), 2.5})), (reals{-1, 0, 2.5}));
}

// Holds: elementwise primitives: Operators on Python's scalars are Python's.
TEST(array_scalars, have_pythons_arithmetic) {
    const auto whole_of = [](const value& v) { return *v.as<std::int64_t>(); };
    EXPECT_EQ(whole_of(call("floor_divide", {whole(-7), whole(2)})), -4);
    EXPECT_EQ(whole_of(call("remainder", {whole(-7), whole(2)})), 1);
    EXPECT_EQ(whole_of(call("add", {true, true})), 2);
    EXPECT_EQ(*call("divide", {whole(1), whole(2)}).as<double>(), 0.5);
    EXPECT_EQ(*call("power", {whole(2), whole(-1)}).as<double>(), 0.5);
    EXPECT_EQ(*call("less", {whole(1), 1.5}).as<bool>(), true);
    EXPECT_EQ(*call("equal", {whole(9007199254740993), 9007199254740992.0}).as<bool>(), false);
    EXPECT_EQ(words_of([] {
                  call("add", {whole(INT64_MAX), whole(1)});
              }),
              "9223372036854775807 + 1 does not fit into int64; Python's longer integers are not "
              "accepted here");
    EXPECT_THROW(call("divide", {whole(1), whole(0)}), quern::arrays::zero_division_error);
    EXPECT_EQ(words_of([] {
                  call("right_shift", {-1.5, false});
              }),
              "unsupported operand type(s) for >>: 'float' and 'bool'");
    EXPECT_TRUE(*call("equal", {std::string("a"), std::string("a")}).as<bool>());
}

// Holds: elementwise primitives: Types that an operation does not take are a type_error.
TEST(array_errors, name_what_is_wrong) {
    EXPECT_THROW(call("add", {line({1}), quern::arrays::none()}), quern::arrays::type_error);
    EXPECT_EQ(
        words_of([] {
            call("subtract", {flag_line({1}), flag_line({1})});
        }),
        "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the "
        "`^` operator, or the logical_xor function instead.");
    EXPECT_EQ(words_of([] {
                  call("bitwise_and", {line({1}), line({1})});
              }),
              "ufunc 'bitwise_and' not supported for the input types, and the inputs could not be "
              "safely coerced to any supported types according to the casting rule ''safe''");
}

// Holds: operations in place: The first operand gets the result and is given.
TEST_P(array_elements, are_changed_in_place) {
    inside([] {
        const array a = line({1, 2, 3});
        const value result = call("iadd", {a, whole_line({1, 1, 1})});
        EXPECT_EQ(elements(value(a)), (reals{2, 3, 4}));
        EXPECT_EQ(array_in(result).bytes(), a.bytes());
        const array single = single_line({1, 2});
        call("imul", {single, line({2.5, 2})});
        EXPECT_EQ(elements<float>(value(single)), (std::vector<float>{2.5F, 4}));
        EXPECT_EQ(*call("iadd", {whole(1), whole(2)}).as<std::int64_t>(), 3);
    });
}

// Holds: operations in place: Operands that overlap are read before they are changed.
TEST_P(array_elements, may_overlap_in_place) {
    inside([] {
        for (const std::ptrdiff_t n : {6, 300'000}) {
            array a(float64, {n});
            for (std::ptrdiff_t i = 0; i < n; ++i) {
                a.data<double>()[i] = static_cast<double>(i);
            }
            call("iadd", {a.view({n - 1}, {8}, 8), a.view({n - 1}, {8}, 0)});
            for (std::ptrdiff_t i = 1; i < n; ++i) {
                ASSERT_EQ(a.data<double>()[i], static_cast<double>(2 * i - 1));
            }
            call("iadd", {a, a.view({n}, {-8}, 8 * (n - 1))});
            EXPECT_EQ(a.data<double>()[0], a.data<double>()[n - 1]);
        }
    });
}

// Holds: operations in place: Read-only arrays, other shapes and other kinds are refused.
TEST(array_in_place, is_refused) {
    array memory = line({1, 2});
    const array fixed(memory.bytes(), float64, {2}, {8}, memory.owner(), false);
    EXPECT_EQ(words_of([&] { call("iadd", {fixed, 1.0}); }), "output array is read-only");
    EXPECT_EQ(words_of([] {
                  call("iadd", {whole_line({1}), 1.5});
              }),
              "Cannot cast ufunc 'add' output from dtype('float64') to dtype('int64') with casting "
              "rule 'same_kind'");
    EXPECT_EQ(words_of([] {
                  call("iadd", {line({1}), line({1, 2})});
              }),
              "non-broadcastable output operand with shape (1,) doesn't match the broadcast shape "
              "(2,)");
    EXPECT_EQ(words_of([] {
                  call("isub", {line({1, 2}), line({1, 2, 3})});
              }),
              "operands could not be broadcast together with shapes (2,) (3,) (2,)");
}

// Holds: elementwise primitives: A plain thread may call them.
TEST(array_threads, may_be_plain) {
    const array large(float64, {400'000});
    std::fill_n(large.data<double>(), large.size(), 0.0);
    const value result = call("exp", {large});
    const reals ones = elements(result);
    EXPECT_EQ(std::accumulate(ones.begin(), ones.end(), 0.0), 400'000.0);
}

}  // namespace
