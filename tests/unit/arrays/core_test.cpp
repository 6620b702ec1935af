// SPDX-License-Identifier: BSL-1.0
// Types, arrays, values, and calls of primitives by name.
#include "unit/arrays/primitive_calls.hpp"

#include <quern/arrays/kernels.hpp>

#include <algorithm>
#include <deque>
#include <limits>
#include <random>
#include <thread>
#include <vector>

namespace {

using quern::arrays::none;
using quern_test::array;
using quern_test::call;
using quern_test::dtype;
using quern_test::elements;
using quern_test::extents;
using quern_test::line;
using quern_test::matrix;
using quern_test::reals;
using quern_test::value;
using quern_test::whole;
using quern_test::words_of;
using enum quern::arrays::dtype;

// Holds: dtype: promote() follows NumPy's table.
TEST(array_types, promote_as_numpy) {
    EXPECT_EQ(quern::arrays::promote(boolean, int32), int32);
    EXPECT_EQ(quern::arrays::promote(int64, int32), int64);
    EXPECT_EQ(quern::arrays::promote(int32, float32), float64);
    EXPECT_EQ(quern::arrays::promote(float32, int64), float64);
    EXPECT_EQ(quern::arrays::promote(boolean, float32), float32);
    EXPECT_EQ(quern::arrays::promote(float32, float32), float32);
}

// Holds: dtype: Types have NumPy's names.
TEST(array_types, have_names) {
    for (const dtype type : {boolean, int32, int64, float32, float64}) {
        EXPECT_EQ(quern::arrays::dtype_named(quern::arrays::name_of(type)), type);
    }
    EXPECT_EQ(quern::arrays::dtype_named("float"), float64);
    EXPECT_EQ(quern::arrays::dtype_named("complex64"), std::nullopt);
}

// Holds: array: New memory is in C order and aligned to a cache line.
TEST(arrays, are_aligned_and_in_c_order) {
    const array a(int32, {2, 3, 4});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.bytes()) % 64, 0U);
    EXPECT_EQ(a.strides(), (extents{48, 16, 4}));
    EXPECT_EQ(a.size(), 24);
    EXPECT_TRUE(a.is_contiguous());
    EXPECT_EQ(array(float64, {}).size(), 1);
    EXPECT_EQ(array(float64, {3, 0}).size(), 0);
}

// Holds: array: Arrays of any size are aligned and share no memory with others.
TEST(arrays, of_each_size_have_their_own_memory) {
    std::vector<array> held;
    for (std::ptrdiff_t size = 0; size < 2'000; ++size) {
        held.emplace_back(boolean, extents{size});
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(held.back().bytes()) % 64, 0U) << size;
        std::fill_n(held.back().bytes(), size, static_cast<std::byte>(size % 251));
    }
    for (const array& each : held) {
        const auto expected = static_cast<std::byte>(each.size() % 251);
        EXPECT_EQ(std::count(each.bytes(), each.bytes() + each.size(), expected), each.size());
    }
}

// Holds: array: Shapes that no memory has are refused.
TEST(arrays, refuse_impossible_shapes) {
    EXPECT_EQ(words_of([] { array(float64, {2, -1}); }), "negative dimensions are not allowed");
    constexpr std::ptrdiff_t k_much = std::numeric_limits<std::ptrdiff_t>::max() / 2;
    EXPECT_EQ(words_of([] { array(float64, {k_much, 2}); }).substr(0, 16), "array is too big");
    EXPECT_EQ(words_of([] {
                  extents({1, 1, 1, 1, 1, 1, 1, 1, 1});
              }),
              "maximum supported dimension for an array is 8, found 9");
}

// Holds: array: A view shares the memory and keeps it alive.
TEST(arrays, views_share_memory) {
    array a = line({1, 2, 3, 4});
    const array backwards = a.view({4}, {-8}, 24);
    a = array();
    EXPECT_EQ(elements(value(backwards)), (reals{4, 3, 2, 1}));
    EXPECT_FALSE(backwards.is_contiguous());
}

/// Makes and drops large arrays, all of whose elements are one number; gives how many had others.
std::size_t count_spoilt_arrays(unsigned seed) {
    std::minstd_rand random(seed);
    std::deque<array> held;
    std::size_t spoilt = 0;
    for (int i = 0; i < 400; ++i) {
        const array made(int32, {static_cast<std::ptrdiff_t>(10'000 + random() % 200'000)});
        std::fill_n(made.data<std::int32_t>(), made.size(),
                    static_cast<std::int32_t>(seed + random() % 999));
        held.push_back(made);
        if (held.size() < 5) continue;
        const array gone = held[random() % held.size()];
        const auto* const first = gone.data<std::int32_t>();
        spoilt += std::count(first, first + gone.size(), *first) != gone.size() ? 1U : 0U;
        held.pop_front();
    }
    return spoilt;
}

// Holds: array: Arrays that live at the same time share no memory, whichever threads made them; the
// memory of an array that has ended may be used again.
TEST(arrays, use_memory_again_after_the_end) {
    std::vector<std::size_t> spoilt(4, 1);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < spoilt.size(); ++i) {
        threads.emplace_back([&spoilt, i] { spoilt[i] = count_spoilt_arrays(1000 * i); });
    }
    for (std::thread& each : threads) {
        each.join();
    }
    EXPECT_EQ(spoilt, std::vector<std::size_t>(4, 0));
}

// Holds: array: broadcast() has NumPy's message.
TEST(arrays, broadcast_shapes) {
    EXPECT_EQ(quern::arrays::broadcast({2, 1, 3}, {4, 1}), (extents{2, 4, 3}));
    EXPECT_EQ(quern::arrays::broadcast({}, {0}), (extents{0}));
    EXPECT_EQ(words_of([] {
                  quern::arrays::broadcast({2, 3}, {4});
              }),
              "operands could not be broadcast together with shapes (2,3) (4,)");
}

// Holds: value: truth_of() is Python's truth.
TEST(array_values, have_a_truth) {
    EXPECT_FALSE(quern::arrays::truth_of(none()));
    EXPECT_TRUE(quern::arrays::truth_of(-1.5));
    EXPECT_FALSE(quern::arrays::truth_of(std::string()));
    EXPECT_TRUE(quern::arrays::truth_of(line({2})));
    EXPECT_EQ(words_of([] {
                  quern::arrays::truth_of(line({1, 2}));
              }),
              "The truth value of an array with more than one element is ambiguous. Use a.any() or "
              "a.all()");
    EXPECT_EQ(words_of([] { quern::arrays::truth_of(line({})); }).substr(0, 35),
              "The truth value of an empty array i");
}

// Holds: value: describe() is for messages.
TEST(array_values, describe_themselves) {
    EXPECT_EQ(quern::arrays::describe(matrix(2, 3, {})), "array of float64, shape (2,3)");
    EXPECT_EQ(quern::arrays::describe(3.5), "3.5");
    EXPECT_EQ(quern::arrays::describe(none()), "None");
    EXPECT_EQ(quern::arrays::describe(true), "True");
    EXPECT_EQ(quern::arrays::describe(quern::arrays::slice{1, {}, 2}), "slice 1::2");
}

// Holds: call: Defaults are filled in; a wrong name or number of operands is refused.
TEST(array_calls, fill_in_defaults) {
    EXPECT_EQ(elements(call("sum", {line({1, 2, 3})})), (reals{6}));
    EXPECT_EQ(words_of([] { call("summ", {whole(1)}); }),
              "no primitive 'summ'; did you mean 'sum'?");
    EXPECT_EQ(words_of([] { call("add", {whole(1)}); }),
              "add(a, b) with 1 operands: 'b' is missing");
    EXPECT_EQ(words_of([] { call("exp", {1.0, 2.0}); }), "exp(a) with 2 operands: too many");
}

// Holds: primitive: The table is sorted by name and each name is in it once.
TEST(array_calls, have_one_sorted_table) {
    const auto all = quern::arrays::all_primitives();
    for (std::size_t i = 1; i < all.size(); ++i) {
        EXPECT_LT(all[i - 1].name, all[i].name);
    }
    EXPECT_EQ(quern::arrays::find_primitive("exp")->is_elementwise, true);
    EXPECT_EQ(quern::arrays::find_primitive("setitem")->writes_first_operand, true);
    EXPECT_EQ(quern::arrays::find_primitive("no such"), nullptr);
}

void seven(char** arguments, const std::ptrdiff_t* count, const std::ptrdiff_t* strides,
           void* data) {
    for (std::ptrdiff_t i = 0; i < *count; ++i) {
        *reinterpret_cast<double*>(arguments[1] + i * strides[1]) = *static_cast<double*>(data);
    }
}

// Holds: replace_kernel: The loop is called with its data until null puts ours back.
TEST(array_kernels, are_replaced) {
    double data = 7;
    const std::vector<dtype> inputs = {float64};
    EXPECT_TRUE(quern::arrays::replace_kernel("exp", inputs, float64, seven, &data));
    EXPECT_EQ(elements(call("exp", {line({0, 1})})), (reals{7, 7}));
    EXPECT_TRUE(quern::arrays::replace_kernel("exp", inputs, float64, nullptr, nullptr));
    EXPECT_EQ(elements(call("exp", {line({0})})), (reals{1}));
}

// Holds: replace_kernel: What has no such loop is not changed.
TEST(array_kernels, are_refused_for_other_types) {
    const std::vector<dtype> whole_numbers = {int64};
    EXPECT_FALSE(quern::arrays::replace_kernel("exp", whole_numbers, float64, seven, nullptr));
    const std::vector<dtype> two = {int64, int64};
    EXPECT_FALSE(quern::arrays::replace_kernel("power", two, int64, seven, nullptr));
    EXPECT_FALSE(quern::arrays::replace_kernel("no such", two, int64, seven, nullptr));
    EXPECT_GT(quern::arrays::replaceable_kernels().size(), 150U);
}

}  // namespace
