// SPDX-License-Identifier: BSL-1.0
// Products and factorisations of matrices, against plain loops and by putting the factors together.
#include "unit/arrays/primitive_calls.hpp"

#include <quern/arrays/blas.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

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
using quern_test::part;
using quern_test::pattern;
using quern_test::reals;
using quern_test::shape;
using quern_test::value;
using quern_test::whole;
using quern_test::words_of;
using enum quern::arrays::dtype;

constexpr std::int64_t k_rows = 310;
constexpr std::int64_t k_columns = 650;
constexpr std::int64_t k_seed = 4;
constexpr std::ptrdiff_t k_stack = 2'000;  // many calls of LAPACK at the same time

/// a b for matrices in C order, by three loops.
reals plain_product_of(const array& a, const array& b) {
    const std::ptrdiff_t m = a.shape()[0];
    const std::ptrdiff_t k = a.shape()[1];
    const std::ptrdiff_t columns = b.shape()[1];
    reals c(static_cast<std::size_t>(m * columns));
    for (std::ptrdiff_t i = 0; i < m; ++i) {
        for (std::ptrdiff_t l = 0; l < k; ++l) {
            for (std::ptrdiff_t j = 0; j < columns; ++j) {
                c[static_cast<std::size_t>(i * columns + j)] +=
                    a.data<double>()[i * k + l] * b.data<double>()[l * columns + j];
            }
        }
    }
    return c;
}

void expect_near(const reals& found, const reals& expected, double within = 1e-9) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_NEAR(found[i], expected[i], within) << "element " << i;
    }
}

/// Positive definite.
array definite(std::ptrdiff_t size) {
    const array a = pattern({size, size}, 2);
    array made = filled_array<double>(
        {size, size},
        plain_product_of(a, by_columns(a).view({size, size}, quern::arrays::c_strides(
                                                                 dtype::float64, {size, size}))));
    for (std::ptrdiff_t i = 0; i < size; ++i) {
        made.data<double>()[i * size + i] += 100;
    }
    return made;
}

bool has_lapack() { return !quern::arrays::blas_library().lapack_path.empty(); }

class linear_algebra : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(linear_algebra);

// Holds: linear algebra: matmul multiplies matrices of any strides; elements are whole numbers here,
// so all orders of summation give the same.
TEST_P(linear_algebra, multiplies_matrices) {
    inside([] {
        for (const auto [m, k, columns] :
             {std::array{2, 3, 4}, std::array{70, 60, 50}, std::array{300, 200, 310},
              std::array{1, 5, 1}, std::array{5, 1, 5}}) {
            const array a = pattern({m, k}, 1);
            const array b = pattern({k, columns}, 2);
            const reals expected = plain_product_of(a, b);
            EXPECT_EQ(elements(call("matmul", {a, b})), expected);
            EXPECT_EQ(elements(call("matmul", {by_columns(a), b})), expected);
            EXPECT_EQ(elements(call("dot", {a, by_columns(b)})), expected);
        }
    });
}

// Holds: linear algebra: A matrix times its own transpose is symmetric, and computed in halves.
TEST_P(linear_algebra, multiplies_by_the_transpose) {
    inside([] {
        for (const std::ptrdiff_t size : {5, 300}) {
            const array a = pattern({size, 70}, 1);
            const array turned = a.view({70, size}, {8, 70 * 8});
            array copy(dtype::float64, {70, size});
            const reals source = elements(turned);
            std::ranges::copy(source, copy.data<double>());
            EXPECT_EQ(elements(call("matmul", {a, turned})), plain_product_of(a, copy));
            EXPECT_EQ(elements(call("matmul", {turned, a})), plain_product_of(copy, a));
        }
    });
}

// Holds: linear algebra: Tiles depend on the shapes alone, so products have the same bits for any
// number of workers.
TEST_P(linear_algebra, has_the_same_bits_on_all_workers) {
    inside([] {
        const auto results = [] {
            const value a = call("random", {quern_test::list({k_rows, k_columns}), k_seed});
            const value b = call("random", {quern_test::list({k_columns, k_rows}), k_seed});
            const value x = call("random", {k_columns, k_seed});
            reals all = elements(call("matmul", {a, b}));
            for (const value& each : {call("matmul", {a, x}), call("vdot", {a, b})}) {
                const reals more = elements(each);
                all.insert(all.end(), more.begin(), more.end());
            }
            return all;
        };
        static const reals before = results();  // of the case with one worker
        EXPECT_EQ(results(), before);
    });
}

// Holds: linear algebra: Vectors are rows on the left and columns on the right; batches broadcast.
TEST_P(linear_algebra, multiplies_vectors_and_batches) {
    inside([] {
        const array a = matrix(2, 3, {1, 2, 3, 4, 5, 6});
        EXPECT_EQ(elements(call("matmul", {a, line({1, 0, -1})})), (reals{-2, -2}));
        EXPECT_EQ(elements(call("matmul", {line({1, -1}), a})), (reals{-3, -3, -3}));
        EXPECT_EQ(elements(call("dot", {line({1, 2}), line({3, 4})})), reals{11});
        EXPECT_EQ(shape(call("dot", {line({1, 2}), line({3, 4})})), extents{});
        const array batch = pattern({4, 1, 2, 3}, 1);
        EXPECT_EQ(shape(call("matmul", {batch, pattern({5, 3, 2}, 2)})), (extents{4, 5, 2, 2}));
        EXPECT_EQ(shape(call("dot", {batch, pattern({5, 3, 2}, 2)})), (extents{4, 1, 2, 5, 2}));
        EXPECT_EQ(elements(call("matmul", {matrix(2, 0, {}), matrix(0, 2, {})})), reals(4, 0));
        EXPECT_EQ(shape(call("matmul", {matrix(0, 3, {}), matrix(3, 2, reals(6))})),
                  (extents{0, 2}));
        const array tall = pattern({3000, 200}, 1);
        const array x = pattern({200, 1}, 2);
        EXPECT_EQ(elements(call("matmul", {tall, line(elements(x))})), plain_product_of(tall, x));
    });
}

// Holds: linear algebra: Integers wrap around, booleans are joined by "and" and "or".
TEST_P(linear_algebra, multiplies_integers_and_booleans) {
    inside([] {
        const auto a = filled_array<std::int32_t>({1, 2}, {1 << 30, 1});
        const auto b = filled_array<std::int32_t>({2, 1}, {4, 5});
        EXPECT_EQ(elements<std::int32_t>(call("matmul", {a, b})), (std::vector<std::int32_t>{5}));
        const auto p = filled_array<bool>({2, 2}, {1, 1, 0, 0});
        EXPECT_EQ(elements<bool>(call("matmul", {p, p})), (std::vector<char>{1, 1, 0, 0}));
    });
}

// Holds: linear algebra: Shapes that do not fit throw with NumPy's words.
TEST_P(linear_algebra, refuses_shapes_that_do_not_fit) {
    inside([] {
        const array a = matrix(2, 3, reals(6));
        EXPECT_EQ(words_of([&] {
                      call("dot", {a, a});
                  }),
                  "shapes (2,3) and (2,3) not aligned: 3 (dim 1) != 2 (dim 0)");
        EXPECT_EQ(words_of([&] {
                      call("matmul", {a, a});
                  }),
                  "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc "
                  "signature (n?,k),(k,m?)->(n?,m?) (size 2 is different from 3)");
        EXPECT_EQ(words_of([&] {
                      call("matmul", {a, 2.0});
                  }),
                  "matmul: Input operand 1 does not have enough dimensions (has 0, gufunc core "
                  "with signature (n?,k),(k,m?)->(n?,m?) requires 1)");
        EXPECT_EQ(words_of([&] { call("inv", {a}); }),
                  "Last 2 dimensions of the array must be square");
        EXPECT_EQ(words_of([&] { call("inv", {line({1})}); }),
                  "1-dimensional array given. Array must be at least two-dimensional");
    });
}

// Holds: linear algebra: solve, inv and det answer for each matrix of a stack.
TEST_P(linear_algebra, solves_systems) {
    if (!has_lapack()) GTEST_SKIP() << "no LAPACK";
    inside([] {
        for (const std::ptrdiff_t size : {3, 120, 300}) {
            const array a = definite(size);
            const array x = pattern({size, 2}, 9);
            const array b = filled_array<double>({size, 2}, plain_product_of(a, x));
            expect_near(elements(call("solve", {a, b})), elements(x));
            const reals one = elements(call("matmul", {a, call("inv", {a})}));
            expect_near(one, elements(call("identity", {value(std::int64_t{size})})));
        }
        array stack(dtype::float64, {k_stack, 2, 2});
        for (std::ptrdiff_t i = 0; i < k_stack; ++i) {
            const double d = static_cast<double>(i + 1);
            std::ranges::copy(reals{d, 1, 0, 2}, stack.data<double>() + i * 4);
        }
        const reals found = elements(call("det", {stack}));
        const reals inverses = elements(call("inv", {stack}));
        for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_NEAR(inverses[i * 4] * static_cast<double>(i + 1), 1, 1e-9);
            EXPECT_NEAR(found[i], 2.0 * static_cast<double>(i + 1), 1e-9);
        }
        EXPECT_EQ(elements(call("det", {matrix(0, 0, {})})), reals{1});
    });
}

/// With zeros above the diagonal, or below it.
array triangle(std::ptrdiff_t size, bool is_lower) {
    array made = definite(size);
    for (std::ptrdiff_t i = 0; i < size; ++i) {
        for (std::ptrdiff_t j = 0; j < size; ++j) {
            if (is_lower ? j > i : j < i) made.data<double>()[i * size + j] = 0;
        }
    }
    return made;
}

// Holds: linear algebra: solve answers for triangular matrices of any strides; singular ones are
// refused, and elements that are not finite give NaN as they do in LAPACK.
TEST_P(linear_algebra, solves_triangular_systems) {
    if (!has_lapack()) GTEST_SKIP() << "no LAPACK";
    inside([] {
        for (const bool is_lower : {true, false}) {
            for (const std::ptrdiff_t size : {1, 2, 10, 250}) {
                const array a = triangle(size, is_lower);
                const array x = pattern({size, 3}, 9);
                const array b = filled_array<double>({size, 3}, plain_product_of(a, x));
                expect_near(elements(call("solve", {a, b})), elements(x));
                expect_near(elements(call("solve", {by_columns(a), by_columns(b)})), elements(x));
            }
            const array flat = triangle(5, is_lower);
            flat.data<double>()[3 * 5 + 3] = 0;
            EXPECT_EQ(words_of([&] {
                          call("solve", {flat, line({1, 2, 3, 4, 5})});
                      }),
                      "Singular matrix");
            const array nan = triangle(2, is_lower);
            nan.data<double>()[0] = std::numeric_limits<double>::quiet_NaN();
            const reals found = elements(call("solve", {nan, line({1, 2})}));
            EXPECT_TRUE(std::isnan(found[0]));
        }
        const array third = matrix(2, 2, {4, 0, 1, 3});
        EXPECT_EQ(elements(call("solve", {third, line({4, 7})})), (reals{1, 2}));
        EXPECT_EQ(call("solve",
                       {call("astype", {third, float32}), call("astype", {line({4, 7}), float32})})
                      .as<array>()
                      ->type(),
                  float32);
    });
}

// Holds: linear algebra: Singular matrices throw std::domain_error with NumPy's words.
TEST_P(linear_algebra, refuses_singular_matrices) {
    if (!has_lapack()) GTEST_SKIP() << "no LAPACK";
    inside([] {
        const array flat = matrix(2, 2, {1, 2, 2, 4});
        EXPECT_THROW(call("inv", {flat}), std::domain_error);
        EXPECT_EQ(words_of([&] { call("solve", {flat, line({1, 2})}); }), "Singular matrix");
        EXPECT_EQ(words_of([&] {
                      call("cholesky", {matrix(2, 2, {1, 2, 2, 1})});
                  }),
                  "Matrix is not positive definite");
        EXPECT_EQ(elements(call("det", {flat})), reals{0});
    });
}

// Holds: linear algebra: The factors of cholesky, lu, qr, eigh and svd give the matrix again.
TEST_P(linear_algebra, factors_matrices) {
    if (!has_lapack()) GTEST_SKIP() << "no LAPACK";
    inside([] {
        const auto times = [](const value& a, const value& b) { return call("matmul", {a, b}); };
        for (const std::ptrdiff_t size : {4, 90, 300}) {
            const array a = definite(size);
            const reals expected = elements(a);
            const array l = array_in(call("cholesky", {a}));
            expect_near(elements(times(l, l.view({size, size}, {l.strides()[1], l.strides()[0]}))),
                        expected, 1e-7);
            const value plu = call("lu", {a});
            expect_near(elements(times(times(part(plu, 0), part(plu, 1)), part(plu, 2))), expected,
                        1e-7);
            const value qr = call("qr", {a});
            expect_near(elements(times(part(qr, 0), part(qr, 1))), expected, 1e-7);
            const value eigen = call("eigh", {a});
            const reals w = elements(part(eigen, 0));
            EXPECT_TRUE(std::ranges::is_sorted(w));
            const value s = call("svd", {a});
            expect_near(elements(times(times(part(s, 0), call("diag", {part(s, 1)})), part(s, 2))),
                        expected, 1e-7);
            reals largest_first = elements(part(s, 1));
            std::ranges::reverse(largest_first);
            expect_near(largest_first, w, 1e-7);
        }
        EXPECT_EQ(shape(part(call("qr", {matrix(2, 5, reals(10))}), 1)), (extents{2, 5}));
        EXPECT_EQ(shape(part(call("svd", {matrix(2, 5, reals(10))}), 2)), (extents{5, 5}));
    });
}

// Holds: linear algebra: lstsq gives the solution, the rest, the rank and the singular values.
TEST_P(linear_algebra, fits_lines) {
    if (!has_lapack()) GTEST_SKIP() << "no LAPACK";
    inside([] {
        const array a = matrix(4, 2, {0, 1, 1, 1, 2, 1, 3, 1});
        const value fit = call("lstsq", {a, line({-1, 0.2, 0.9, 2.1})});
        expect_near(elements(part(fit, 0)), {1, -0.95});
        expect_near(elements(part(fit, 1)), {0.05});
        EXPECT_EQ(elements<std::int32_t>(part(fit, 2)), (std::vector<std::int32_t>{2}));
        EXPECT_EQ(shape(part(fit, 3)), (extents{2}));
    });
}

// Holds: linear algebra: norm takes vectors, Frobenius and other orders, along axes; trace sums a
// diagonal.
TEST_P(linear_algebra, measures_arrays) {
    inside([] {
        const array a = matrix(2, 2, {3, 0, 4, -5});
        EXPECT_EQ(elements(call("norm", {line({3, 4})})), reals{5});
        EXPECT_EQ(elements(call("norm", {a})), reals{std::sqrt(50.0)});
        EXPECT_EQ(elements(call("norm", {a, quern::arrays::none(), whole(0)})), (reals{5, 5}));
        EXPECT_EQ(elements(call("norm", {a, whole(1)})), reals{7});
        EXPECT_EQ(elements(call("norm", {a, HUGE_VAL})), reals{9});
        EXPECT_EQ(elements(call("trace", {a})), reals{-2});
        EXPECT_EQ(elements(call("trace", {a, whole(-1)})), reals{4});
        EXPECT_EQ(words_of([&] {
                      call("norm", {a, whole(3)});
                  }),
                  "Invalid norm order for matrices.");
    });
}

// Holds: linear algebra: A library that cannot be opened or has no BLAS is refused, and the one in
// use stays.
TEST(blas_library, refuses_what_is_no_blas) {
    const std::string before = quern::arrays::blas_library().path;
    EXPECT_THROW(quern::arrays::use_blas_library("/there/is/no.so"), std::invalid_argument);
    EXPECT_EQ(words_of([] { quern::arrays::use_blas_library("libm.so.6"); }),
              "use_blas_library: libm.so.6 has no BLAS: there is no dgemm_, dgemm_64_ or "
              "scipy_dgemm_64_ in it");
    EXPECT_EQ(quern::arrays::blas_library().path, before);
}

}  // namespace
