// SPDX-License-Identifier: BSL-1.0
// zeros, full, arange, linspace, eye, diag and their relatives give NumPy's elements.
#include "unit/arrays/primitive_calls.hpp"

namespace {

using quern::arrays::none;
using quern_test::array;
using quern_test::array_in;
using quern_test::call;
using quern_test::dtype;
using quern_test::elements;
using quern_test::extents;
using quern_test::line;
using quern_test::list;
using quern_test::matrix;
using quern_test::reals;
using quern_test::shape;
using quern_test::value;
using quern_test::whole;
using quern_test::wholes;
using quern_test::words_of;

class creation : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(creation);

// Holds: creation primitives: zeros, ones and full make arrays of a shape; their type is float64, or
// that of the value.
TEST_P(creation, fills_shapes) {
    inside([] {
        EXPECT_EQ(elements(call("zeros", {whole(3)})), reals(3, 0));
        EXPECT_EQ(elements(call("ones", {list({whole(2), whole(2)})})), reals(4, 1));
        EXPECT_EQ(shape(call("ones", {list({whole(2), whole(0)})})), (extents{2, 0}));
        EXPECT_EQ(elements<std::int64_t>(call("full", {whole(2), whole(7)})), wholes(2, 7));
        EXPECT_EQ(elements(call("full", {list({whole(2), whole(2)}), line({1, 2})})),
                  (reals{1, 2, 1, 2}));
        EXPECT_EQ(array_in(call("zeros", {list({}), std::string("int32")})).type(), dtype::int32);
        const reals large = elements(call("full", {whole(100'000), 1.5}));
        EXPECT_EQ(large, reals(100'000, 1.5));
        EXPECT_EQ(elements(call("zeros", {whole(100'000)})), reals(100'000, 0));
    });
}

// Holds: creation primitives: Those with "like" take shape and type from an array.
TEST_P(creation, takes_shapes_from_arrays) {
    inside([] {
        const array a = matrix(2, 1, {1, 2});
        EXPECT_EQ(shape(call("empty_like", {a})), (extents{2, 1}));
        EXPECT_EQ(elements(call("full_like", {a, whole(3)})), (reals{3, 3}));
        EXPECT_EQ(elements<std::int64_t>(call("ones_like", {a, dtype::int64})), wholes(2, 1));
        EXPECT_EQ(shape(call("zeros_like", {a, none{}, whole(4)})), (extents{4}));
    });
}

// Holds: creation primitives: arange ends before its stop; integers stay integers.
TEST_P(creation, makes_ranges) {
    inside([] {
        EXPECT_EQ(elements<std::int64_t>(call("arange", {whole(3)})), (wholes{0, 1, 2}));
        EXPECT_EQ(elements<std::int64_t>(call("arange", {whole(7), whole(-3), whole(-4)})),
                  (wholes{7, 3, -1}));
        EXPECT_EQ(elements(call("arange", {0.5, 2.0, 0.5})), (reals{0.5, 1, 1.5}));
        EXPECT_EQ(shape(call("arange", {whole(3), whole(3)})), (extents{0}));
        const wholes large = elements<std::int64_t>(call("arange", {whole(200'000)}));
        EXPECT_EQ(large.back(), 199'999);
        EXPECT_EQ(words_of([] {
                      call("arange", {whole(1), whole(2), whole(0)});
                  }),
                  "division by zero");
    });
}

// Holds: creation primitives: linspace gives as many points as asked for, with the ends exact.
TEST_P(creation, divides_intervals) {
    inside([] {
        EXPECT_EQ(elements(call("linspace", {whole(0), whole(1), whole(5)})),
                  (reals{0, .25, .5, .75, 1}));
        EXPECT_EQ(elements(call("linspace", {whole(0), whole(1), whole(4), false})),
                  (reals{0, .25, .5, .75}));
        EXPECT_EQ(elements(call("linspace", {0.1, 0.7, whole(7)})).back(), 0.7);
        EXPECT_EQ(elements(quern_test::part(
                      call("linspace", {whole(0), whole(1), whole(5), true, true}), 1)),
                  (reals{.25}));
        EXPECT_EQ(words_of([] {
                      call("linspace", {whole(0), whole(1), whole(-1)});
                  }),
                  "Number of samples, -1, must be non-negative.");
    });
}

// Holds: creation primitives: eye, identity, diag, tri, tril and triu count diagonals from the main
// one, to the right.
TEST_P(creation, makes_matrices_with_diagonals) {
    inside([] {
        EXPECT_EQ(elements(call("eye", {whole(2), whole(3), whole(1)})), (reals{0, 1, 0, 0, 0, 1}));
        EXPECT_EQ(elements(call("identity", {whole(2)})), (reals{1, 0, 0, 1}));
        EXPECT_EQ(elements(call("diag", {line({1, 2}), whole(-1)})),
                  (reals{0, 0, 0, 1, 0, 0, 0, 2, 0}));
        const array a = matrix(2, 3, {1, 2, 3, 4, 5, 6});
        EXPECT_EQ(elements(call("diag", {a})), (reals{1, 5}));
        EXPECT_EQ(elements(call("diag", {a, whole(5)})), reals{});
        EXPECT_FALSE(array_in(call("diag", {a})).is_writable());
        EXPECT_EQ(elements(call("tril", {a})), (reals{1, 0, 0, 4, 5, 0}));
        EXPECT_EQ(elements(call("triu", {a, whole(1)})), (reals{0, 2, 3, 0, 0, 6}));
        EXPECT_EQ(elements(call("tri", {whole(2), whole(2), whole(-1)})), (reals{0, 0, 1, 0}));
        EXPECT_EQ(words_of([] { call("diag", {whole(1)}); }), "Input must be 1- or 2-d.");
    });
}

// Holds: creation primitives: array joins nested tuples, and copies an array, which asarray does
// not.
TEST_P(creation, joins_nested_tuples) {
    inside([] {
        const value nested = list({list({whole(1), whole(2)}), list({whole(3), 4.5})});
        EXPECT_EQ(elements(call("array", {nested})), (reals{1, 2, 3, 4.5}));
        EXPECT_EQ(shape(call("array", {nested, none{}, true, whole(3)})), (extents{1, 2, 2}));
        EXPECT_EQ(elements<bool>(call("array", {list({true, false})})), (std::vector<char>{1, 0}));
        const array a = line({1, 2});
        EXPECT_EQ(array_in(call("asarray", {a})).bytes(), a.bytes());
        EXPECT_NE(array_in(call("array", {a})).bytes(), a.bytes());
        EXPECT_EQ(elements<std::int64_t>(call("asarray", {line({1.9, -1.9}), dtype::int64})),
                  (wholes{1, -1}));
        EXPECT_EQ(words_of([] {
                      call("array", {list({whole(1), list({whole(2), whole(3)})})});
                  }),
                  "setting an array element with a sequence. The requested array has an "
                  "inhomogeneous shape after 1 dimensions. The detected shape was (2,) + "
                  "inhomogeneous part.");
    });
}

// Holds: creation primitives: A wrong shape or type throws with words for what is accepted.
TEST_P(creation, refuses_wrong_operands) {
    inside([] {
        EXPECT_EQ(words_of([] { call("zeros", {whole(-1)}); }),
                  "negative dimensions are not allowed");
        EXPECT_EQ(words_of([] {
                      call("zeros", {whole(1), std::string("complex128")});
                  }),
                  "data type 'complex128' not understood: bool, int32, int64, float32 or float64");
        EXPECT_EQ(words_of([] {
                      call("full", {whole(3), line({1, 2})});
                  }),
                  "could not broadcast input array from shape (2,) into shape (3,)");
        EXPECT_NE(words_of([] { call("zeros", {2.5}); }).find("is not an integer"),
                  std::string::npos);
    });
}

}  // namespace
