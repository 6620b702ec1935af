// SPDX-License-Identifier: BSL-1.0
// Views with another shape, and indices: NumPy's elements, views and messages.
#include "unit/arrays/primitive_calls.hpp"

#include <quern/arrays/errors.hpp>

namespace {

using quern::arrays::ellipsis;
using quern::arrays::none;
using quern::arrays::slice;
using quern_test::array;
using quern_test::array_in;
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
using quern_test::words_of;
using enum quern::arrays::dtype;

array counted(const extents& of) {
    array made(float64, of);
    for (std::ptrdiff_t i = 0; i < made.size(); ++i) {
        made.data<double>()[i] = static_cast<double>(i);
    }
    return made;
}

// Holds: shape primitives: reshape gives a view where the memory allows it.
TEST(array_shapes, are_views) {
    const array a = counted({2, 6});
    EXPECT_EQ(array_in(call("reshape", {a, list({whole(3), whole(-1)})})).bytes(), a.bytes());
    EXPECT_EQ(shape(call("reshape", {a, whole(-1)})), (extents{12}));
    const value turned = call("transpose", {a});
    EXPECT_EQ(elements(turned), (reals{0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}));
    EXPECT_EQ(array_in(call("reshape", {turned, list({whole(2), whole(3), whole(2)})})).bytes(),
              a.bytes());
    EXPECT_NE(array_in(call("reshape", {turned, whole(12)})).bytes(), a.bytes());
    EXPECT_EQ(elements(call("reshape", {turned, whole(12)})), elements(turned));
    EXPECT_EQ(shape(call("expand_dims", {a, whole(1)})), (extents{2, 1, 6}));
    EXPECT_EQ(shape(call("squeeze", {counted({1, 3, 1})})), (extents{3}));
    EXPECT_EQ(shape(call("swapaxes", {counted({1, 3, 2}), whole(0), whole(-1)})),
              (extents{2, 3, 1}));
    EXPECT_FALSE(
        array_in(call("broadcast_to", {a, list({whole(3), whole(2), whole(6)})})).is_writable());
}

// Holds: shape primitives: Shapes that do not fit are refused in NumPy's words.
TEST(array_shapes, are_refused) {
    const array a = counted({2, 3});
    EXPECT_EQ(words_of([&] {
                  call("reshape", {a, list({whole(4), whole(-1)})});
              }),
              "cannot reshape array of size 6 into shape (4,newaxis)");
    EXPECT_EQ(words_of([&] {
                  call("reshape", {a, list({whole(-1), whole(-1)})});
              }),
              "can only specify one unknown dimension");
    EXPECT_EQ(words_of([&] {
                  call("transpose", {a, list({whole(0), whole(0)})});
              }),
              "repeated axis in transpose");
    EXPECT_EQ(words_of([&] {
                  call("squeeze", {a, whole(0)});
              }),
              "cannot select an axis to squeeze out which has size not equal to one");
    EXPECT_EQ(words_of([&] { call("len", {filled_array<double>({}, {1})}); }),
              "len() of unsized object");
}

// Holds: shape primitives: What an array is comes as Python's values.
TEST(array_shapes, are_told) {
    const array a = counted({2, 3});
    EXPECT_EQ(*call("ndim", {a}).as<std::int64_t>(), 2);
    EXPECT_EQ(*call("size", {a}).as<std::int64_t>(), 6);
    EXPECT_EQ(*call("len", {a}).as<std::int64_t>(), 2);
    EXPECT_EQ(quern_test::parts(call("shape", {a})), 2U);
    EXPECT_EQ(*call("dtype", {a}).as<dtype>(), float64);
    EXPECT_EQ(*call("item", {line({2.5})}).as<double>(), 2.5);
    EXPECT_EQ(*call("to_int", {-2.5}).as<std::int64_t>(), -2);
}

class array_indices : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(array_indices);

// Holds: indexing: Integers and slices give views.
TEST_P(array_indices, are_integers_and_slices) {
    inside([] {
        const array a = counted({3, 4});
        const value row = call("getitem", {a, whole(-1)});
        EXPECT_EQ(elements(row), (reals{8, 9, 10, 11}));
        EXPECT_EQ(array_in(row).bytes(), a.bytes() + 64);
        EXPECT_EQ(elements(call("getitem", {a, list({whole(1), whole(2)})})), (reals{6}));
        EXPECT_EQ(elements(call("getitem", {a, list({slice{{}, {}, -2}, slice{1, 3}})})),
                  (reals{9, 10, 1, 2}));
        EXPECT_EQ(shape(call("getitem", {a, list({ellipsis(), none(), whole(0)})})),
                  (extents{3, 1}));
        EXPECT_EQ(shape(call("getitem", {a, slice{5, 9}})), (extents{0, 4}));
        EXPECT_EQ(shape(call("getitem", {a, list({})})), (extents{3, 4}));
    });
}

// Holds: indexing: Masks and arrays of integers give copies.
TEST_P(array_indices, are_arrays) {
    inside([] {
        const array a = counted({3, 4});
        EXPECT_EQ(elements(call("getitem", {a, whole_line({2, 0})})),
                  (reals{8, 9, 10, 11, 0, 1, 2, 3}));
        EXPECT_EQ(elements(call("getitem", {a, list({whole_line({0, -1}), whole_line({1, 2})})})),
                  (reals{1, 10}));
        EXPECT_EQ(elements(call("getitem", {a, call("greater", {a, 8.5})})), (reals{9, 10, 11}));
        const array flags = filled_array<bool>({3}, {1, 0, 1});
        EXPECT_EQ(elements(call("getitem", {a, list({flags, whole(3)})})), (reals{3, 11}));
        const array cube = counted({2, 3, 4});
        const value apart = call("getitem", {cube, list({whole(0), slice(), whole_line({1, 3})})});
        EXPECT_EQ(shape(apart), (extents{2, 3}));
        EXPECT_EQ(elements(apart), (reals{1, 5, 9, 3, 7, 11}));
        const value beside = call("getitem", {cube, list({slice(), whole(0), whole_line({1, 3})})});
        EXPECT_EQ(elements(beside), (reals{1, 3, 13, 15}));
        const array many = counted({100'000});
        EXPECT_EQ(elements(call("getitem", {many, call("less", {many, 50'000.0})})).size(),
                  50'000U);
    });
}

// Holds: indexing: An array of integers chooses rows of any strides, negative ones count from the
// end, and one out of bounds is refused.
TEST_P(array_indices, are_rows) {
    inside([] {
        const array a = counted({3, 4});
        const value backwards = call("getitem", {a, slice{{}, {}, -1}});
        EXPECT_EQ(elements(call("getitem", {backwards, whole_line({-1, 0})})),
                  (reals{0, 1, 2, 3, 8, 9, 10, 11}));
        const value columns = call("T", {a});
        EXPECT_EQ(elements(call("getitem", {columns, whole_line({3, -4})})),
                  (reals{3, 7, 11, 0, 4, 8}));
        const value every_other =
            call("getitem", {whole_line({0, 9, 2, 9, 1, 9}), slice{{}, {}, 2}});
        EXPECT_EQ(elements(call("getitem", {line({5, 6, 7}), every_other})), (reals{5, 7, 6}));
        EXPECT_EQ(shape(call("getitem", {a, whole_line({})})), (extents{0, 4}));
        EXPECT_EQ(elements(call("getitem", {counted({300, 40}), whole_line({299, 7})})).back(),
                  319);
        for (const std::int64_t wrong : {3, -4}) {
            EXPECT_EQ(
                words_of([&] {
                    call("getitem", {a, whole_line({0, wrong})});
                }),
                "index " + std::to_string(wrong) + " is out of bounds for axis 0 with size 3");
        }
        EXPECT_EQ(words_of([&] {
                      call("getitem", {array(float64, {0, 2}), whole(0)});
                  }),
                  "index 0 is out of bounds for axis 0 with size 0");
    });
}

// Holds: indexing: setitem converts, broadcasts, and takes overlapping memory.
TEST_P(array_indices, are_assigned_to) {
    inside([] {
        const array a = counted({2, 3});
        call("setitem", {a, list({slice(), whole(1)}), whole_line({7, 8})});
        EXPECT_EQ(elements(value(a)), (reals{0, 7, 2, 3, 8, 5}));
        call("setitem", {a, call("greater", {a, 4.0}), 0.0});
        EXPECT_EQ(elements(value(a)), (reals{0, 0, 2, 3, 0, 0}));
        call("setitem", {a, list({whole_line({0, 0}), whole_line({0, 0})}), line({1, 2})});
        EXPECT_EQ(elements(value(a))[0], 2);
        const array b = counted({5});
        call("setitem", {b, slice{1, {}}, call("getitem", {b, slice{0, 4}})});
        EXPECT_EQ(elements(value(b)), (reals{0, 0, 1, 2, 3}));
        const array flags = filled_array<bool>({5}, {1, 0, 1, 0, 1});
        call("setitem", {b, flags, line({7, 8, 9})});
        EXPECT_EQ(elements(value(b)), (reals{7, 0, 8, 2, 9}));
        call("setitem", {b, ellipsis(), matrix(1, 5, {5, 4, 3, 2, 1})});
        EXPECT_EQ(elements(value(b)), (reals{5, 4, 3, 2, 1}));
    });
}

// Holds: indexing: Wrong indices are std::out_of_range in NumPy's words.
TEST(array_index_errors, are_numpys) {
    const array a = counted({3, 4});
    const auto words = [&](const value& index) {
        return words_of([&] { call("getitem", {a, index}); });
    };
    EXPECT_THROW(call("getitem", {a, whole(5)}), std::out_of_range);
    EXPECT_EQ(words(whole(5)), "index 5 is out of bounds for axis 0 with size 3");
    EXPECT_EQ(words(list({whole(0), whole(-5)})),
              "index -5 is out of bounds for axis 1 with size 4");
    EXPECT_EQ(words(list({whole(0), whole(0), whole(0)})),
              "too many indices for array: array is 2-dimensional, but 3 were indexed");
    EXPECT_EQ(words(list({ellipsis(), ellipsis()})),
              "an index can only have a single ellipsis ('...')");
    EXPECT_EQ(words(whole_line({0, 3})), "index 3 is out of bounds for axis 0 with size 3");
    EXPECT_EQ(words(line({0})), "arrays used as indices must be of integer (or boolean) type");
    EXPECT_EQ(words(filled_array<bool>({2}, {1, 1})),
              "boolean index did not match indexed array along axis 0; size of axis is 3 but size "
              "of corresponding boolean axis is 2");
    EXPECT_EQ(words(slice{{}, {}, 0}), "slice step cannot be zero");
    EXPECT_EQ(words(list({whole_line({0, 1}), whole_line({0, 1, 2})})),
              "shape mismatch: indexing arrays could not be broadcast together with shapes (2,) "
              "(3,)");
    EXPECT_EQ(words(1.5).substr(0, 14), "only integers,");
}

// Holds: indexing: Values that do not fit and arrays that are read-only are refused.
TEST(array_index_errors, refuse_values) {
    const array a = counted({3});
    EXPECT_EQ(words_of([&] {
                  call("setitem", {a, slice{0, 2}, line({1, 2, 3})});
              }),
              "could not broadcast input array from shape (3,) into shape (2,)");
    EXPECT_EQ(words_of([&] {
                  call("setitem", {a, whole_line({0, 1}), line({1, 2, 3})});
              }),
              "shape mismatch: value array of shape (3,) could not be broadcast to indexing result "
              "of shape (2,)");
    const value fixed = call("broadcast_to", {a, list({whole(2), whole(3)})});
    EXPECT_EQ(words_of([&] {
                  call("setitem", {fixed, whole(0), 1.0});
              }),
              "assignment destination is read-only");
    EXPECT_THROW(call("getitem", {1.5, whole(0)}), quern::arrays::type_error);
}

}  // namespace
