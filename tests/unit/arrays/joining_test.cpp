// SPDX-License-Identifier: BSL-1.0
// concatenate, stack, split, repeat, tile, flip, roll and their relatives give NumPy's elements.
#include "unit/arrays/primitive_calls.hpp"

namespace {

using quern::arrays::none;
using quern_test::array;
using quern_test::array_in;
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
using quern_test::words_of;

class joining : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(joining);

// Holds: joining primitives: concatenate puts arrays behind one another along a dimension, or flat.
TEST_P(joining, concatenates) {
    inside([] {
        const array a = matrix(2, 2, {1, 2, 3, 4});
        const array b = by_columns(matrix(1, 2, {5, 6}));
        EXPECT_EQ(elements(call("concatenate", {list({a, b})})), (reals{1, 2, 3, 4, 5, 6}));
        EXPECT_EQ(elements(call("concatenate", {list({a, a}), whole(-1)})),
                  (reals{1, 2, 1, 2, 3, 4, 3, 4}));
        EXPECT_EQ(elements(call("concatenate", {list({a, whole(7)}), none{}})),
                  (reals{1, 2, 3, 4, 7}));
        EXPECT_EQ(elements(call("append", {a, whole(7)})), (reals{1, 2, 3, 4, 7}));
        EXPECT_EQ(elements(call("append", {a, b, whole(0)})), (reals{1, 2, 3, 4, 5, 6}));
    });
}

// Holds: joining primitives: stack makes a new dimension; hstack, vstack and column_stack see lines
// as columns or rows.
TEST_P(joining, stacks) {
    inside([] {
        const value two = list({line({1, 2}), line({3, 4})});
        EXPECT_EQ(elements(call("stack", {two})), (reals{1, 2, 3, 4}));
        EXPECT_EQ(elements(call("stack", {two, whole(1)})), (reals{1, 3, 2, 4}));
        EXPECT_EQ(elements(call("hstack", {two})), (reals{1, 2, 3, 4}));
        EXPECT_EQ(shape(call("vstack", {two})), (extents{2, 2}));
        EXPECT_EQ(elements(call("column_stack", {two})), (reals{1, 3, 2, 4}));
        EXPECT_EQ(shape(call("stack", {matrix(2, 3, reals(6))})), (extents{2, 3}));
    });
}

// Holds: joining primitives: split gives views of equal parts, or of those between positions;
// array_split also unequal ones.
TEST_P(joining, splits_into_views) {
    inside([] {
        const array a = line({1, 2, 3, 4, 5});
        const value thirds = call("array_split", {a, whole(3)});
        ASSERT_EQ(quern_test::parts(thirds), 3u);
        EXPECT_EQ(elements(part(thirds, 0)), (reals{1, 2}));
        EXPECT_EQ(elements(part(thirds, 2)), (reals{5}));
        EXPECT_EQ(part(thirds, 0).bytes(), a.bytes());
        const value between = call("split", {a, list({whole(1), whole(9)})});
        EXPECT_EQ(elements(part(between, 1)), (reals{2, 3, 4, 5}));
        EXPECT_EQ(elements(part(between, 2)), reals{});
    });
}

// Holds: joining primitives: repeat repeats elements, tile whole arrays.
TEST_P(joining, repeats) {
    inside([] {
        const array a = matrix(2, 2, {1, 2, 3, 4});
        EXPECT_EQ(elements(call("repeat", {a, whole(2)})), (reals{1, 1, 2, 2, 3, 3, 4, 4}));
        EXPECT_EQ(elements(call("repeat", {a, list({whole(0), whole(2)}), whole(0)})),
                  (reals{3, 4, 3, 4}));
        EXPECT_EQ(elements(call("tile", {line({1, 2}), list({whole(2), whole(2)})})),
                  (reals{1, 2, 1, 2, 1, 2, 1, 2}));
        EXPECT_EQ(shape(call("tile", {a, whole(0)})), (extents{2, 0}));
    });
}

// Holds: joining primitives: flip is a view in the opposite order; roll moves elements round.
TEST_P(joining, flips_and_rolls) {
    inside([] {
        const array a = matrix(2, 3, {1, 2, 3, 4, 5, 6});
        EXPECT_EQ(elements(call("flip", {a})), (reals{6, 5, 4, 3, 2, 1}));
        EXPECT_EQ(elements(call("flip", {a, whole(1)})), (reals{3, 2, 1, 6, 5, 4}));
        EXPECT_EQ(array_in(call("flip", {a, whole(0)})).owner(), a.owner());
        EXPECT_EQ(elements(call("roll", {a, whole(1)})), (reals{6, 1, 2, 3, 4, 5}));
        EXPECT_EQ(elements(call("roll", {a, whole(-1), whole(1)})), (reals{2, 3, 1, 5, 6, 4}));
        EXPECT_EQ(elements(call("roll", {call("zeros", {whole(0)}), whole(3)})), reals{});
    });
}

// Holds: joining primitives: Large arrays are copied by tasks, with the same result.
TEST_P(joining, joins_large_arrays) {
    inside([] {
        const array a = quern_test::pattern({300, 400}, 1);
        const value turned = by_columns(a);
        const value joined = call("concatenate", {list({a, turned}), whole(1)});
        ASSERT_EQ(shape(joined), (extents{300, 800}));
        const reals all = elements(joined);
        const reals once = elements(a);
        for (std::size_t i = 0; i < once.size(); ++i) {
            ASSERT_EQ(all[i / 400 * 800 + i % 400], once[i]);
            ASSERT_EQ(all[i / 400 * 800 + 400 + i % 400], once[i]);
        }
    });
}

// Holds: joining primitives: Shapes that do not fit throw with NumPy's words.
TEST_P(joining, refuses_shapes_that_do_not_fit) {
    inside([] {
        const array a = matrix(2, 2, {1, 2, 3, 4});
        const auto joined = [&](const value& b) {
            return words_of([&] { call("concatenate", {list({a, b})}); });
        };
        EXPECT_EQ(joined(line({1})),
                  "all the input arrays must have same number of dimensions, but the array at "
                  "index 0 has 2 dimension(s) and the array at index 1 has 1 dimension(s)");
        EXPECT_EQ(joined(matrix(1, 3, {1, 2, 3})),
                  "all the input array dimensions except for the concatenation axis must match "
                  "exactly, but along dimension 1, the array at index 0 has size 2 and the array "
                  "at index 1 has size 3");
        EXPECT_EQ(words_of([] { call("concatenate", {list({})}); }),
                  "need at least one array to concatenate");
        EXPECT_EQ(words_of([&] {
                      call("stack", {list({a, line({1})})});
                  }),
                  "all input arrays must have the same shape");
        EXPECT_EQ(words_of([&] {
                      call("split", {line({1, 2, 3}), whole(2)});
                  }),
                  "array split does not result in an equal division");
        EXPECT_EQ(words_of([&] {
                      call("flip", {a, whole(2)});
                  }),
                  "axis 2 is out of bounds for array of dimension 2");
        EXPECT_EQ(words_of([&] {
                      call("repeat", {a, list({whole(1), whole(-1)}), whole(0)});
                  }),
                  "repeats may not contain negative values.");
    });
}

}  // namespace
