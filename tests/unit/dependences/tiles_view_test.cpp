// SPDX-License-Identifier: BSL-1.0
// tiles_view: where tiles are, what tasks get of them, exact order of tiles beside each other, the
// same results as in tile layout, errors.
#include <quern/dependences/access_list.hpp>
#include <quern/dependences/block.hpp>
#include <quern/dependences/domain.hpp>
#include <quern/dependences/reduction.hpp>
#include <quern/dependences/tiles_view.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using quern::strided_tile;
using quern::tiles_view;

class tiles_view_test : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(tiles_view_test);

static_assert(std::is_convertible_v<quern::matrix_tile<int>, strided_tile<int>>);
static_assert(std::is_convertible_v<strided_tile<int>, strided_tile<const int>>);
static_assert(!std::is_convertible_v<strided_tile<const int>, strided_tile<int>>);
static_assert(!std::is_constructible_v<quern::matrix_tile<int>, strided_tile<int>>);

template <class F>
std::string message_of_wrong_view(F&& f) {
    try {
        f();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "no exception";
}

// Holds: tiles_view: the element in row r and column c is first[c * leading_dimension + r].
TEST(tiles_view_numbers, name_the_elements_of_the_matrix) {
    std::vector<int> a(13 * 7);
    const tiles_view<int> view(a.data(), 13, 10, 7, 4, 3);
    EXPECT_EQ(view.grid_rows(), 3U);
    EXPECT_EQ(view.grid_columns(), 3U);
    EXPECT_EQ(view.leading_dimension(), 13U);
    EXPECT_EQ(view.data(), a.data());
    std::set<const int*> elements;
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
            const strided_tile<int> t = view.tile(i, j);
            EXPECT_EQ(t.rows(), i < 2 ? 4U : 2U);
            EXPECT_EQ(t.columns(), j < 2 ? 3U : 1U);
            EXPECT_EQ(t.leading_dimension(), 13U);
            for (std::size_t c = 0; c < t.columns(); ++c) {
                EXPECT_EQ(t.column(c).size(), t.rows());
                for (std::size_t r = 0; r < t.rows(); ++r) {
                    EXPECT_EQ(&t(r, c), &a[(j * 3 + c) * 13 + i * 4 + r]);
                    EXPECT_EQ(&t(r, c), &view(i * 4 + r, j * 3 + c));
                    EXPECT_EQ(&t.column(c)[r], &t(r, c));
                    elements.insert(&t(r, c));
                }
            }
        }
    }
    EXPECT_EQ(elements.size(), 70U);
}

// Holds: tiles_view: the body gets a strided_tile<T>, or captures the tile.
TEST_P(tiles_view_test, gives_bodies_a_pointer_and_a_leading_dimension) {
    inside([] {
        std::vector<double> a(9 * 8, 1.0);
        const tiles_view<double> view(a.data(), 9, 8, 8, 4, 4);
        const tiles_view<const double> constant(a.data(), 9, 8, 8, 4, 4);
        quern::domain work;
        work.spawn(quern::inout(view.tile(1, 1)), [&a](strided_tile<double> t) {
            EXPECT_EQ(t.data(), &a[4 * 9 + 4]);
            EXPECT_EQ(t.leading_dimension(), 9U);
            t(3, 3) = 5;
        });
        work.spawn(quern::in(view.tile(1, 1)), quern::in(constant.tile(0, 0)),
                   [](strided_tile<const double> t, auto other) {
                       static_assert(std::is_same_v<decltype(other), strided_tile<const double>>);
                       EXPECT_EQ(t(3, 3), 5.0);
                       EXPECT_EQ(other.rows() * other.columns(), 16U);
                   });
        const auto t = view.tile(1, 1);
        work.spawn(quern::out(t), [t] { t(3, 3) = 6; });
        work.taskwait(quern::on(quern::in(t)));
        EXPECT_EQ(a[7 * 9 + 7], 6.0);
    });
}

// Holds: tiles_view: in(A.tile(i, j)), out, inout, concurrent and commutative take the elements of
//     a tile and not what lies between its columns.
TEST_P(tiles_view_test, lets_neighbours_in_one_column_run_at_the_same_time) {
    if (rt.workers() < 2) {
        GTEST_SKIP() << "two tasks that wait for each other";
    }
    inside([] {
        std::vector<int> a(8 * 8);
        const tiles_view<int> view(a.data(), 8, 8, 8, 4, 8);  // their columns alternate in memory
        quern::domain work;
        std::atomic<int> begun{0};
        for (std::size_t i = 0; i < 2; ++i) {
            work.spawn(quern::inout(view.tile(i, 0)), [&begun] {
                ++begun;
                while (begun != 2) {
                    quern::this_task::yield();
                }
            });
        }
        work.taskwait();
        EXPECT_EQ(begun, 2);
    });
}

TEST_P(tiles_view_test, orders_tiles_with_all_that_overlaps_them) {
    inside([] {
        for (int round = 0; round < quern_test::scaled(50, 10); ++round) {
            std::vector<long> a(10 * 6, 1);
            const tiles_view<long> view(a.data(), 10, 8, 6, 4, 3);
            const tiles_view<long> finer(a.data(), 10, 8, 6, 2, 2);
            quern::domain work;
            work.spawn(quern::inout(view.tile(0, 0)), [](strided_tile<long> t) { t(3, 2) = 2; });
            work.spawn(quern::inout(finer.tile(1, 1)), [](strided_tile<long> t) { t(1, 0) *= 3; });
            work.spawn(quern::commutative(a.data() + 23, 1), [](auto x) { x[0] += 1; });
            work.spawn(quern::inout(quern::block(&a[20], 10, 2, 4)),
                       [](auto columns) { columns(0, 3) *= 10; });
            quern::access_list all;
            all.add(quern::in(view.tile(0, 0)));
            all.add(quern::inout(view.tile(1, 1)));
            work.spawn(all, [view] { view.tile(1, 1)(0, 0) = view(3, 2); });
            work.taskwait();
            EXPECT_EQ(view(4, 3), 70);  // (2 * 3 + 1) * 10
        }
    });
}

/// Each tile becomes a function of its left and upper neighbours.
template <class Matrix>
void run_wavefront(Matrix& a) {
    quern::domain work;
    for (int sweep = 0; sweep < 3; ++sweep) {
        for (std::size_t j = 1; j < a.grid_columns(); ++j) {
            for (std::size_t i = 1; i < a.grid_rows(); ++i) {
                const auto left = a.tile(i, j - 1);
                const auto up = a.tile(i - 1, j);
                const auto here = a.tile(i, j);
                work.spawn(quern::in(left), quern::in(up), quern::inout(here), [left, up, here] {
                    for (std::size_t c = 0; c < here.columns(); ++c) {
                        for (std::size_t r = 0; r < here.rows(); ++r) {
                            here(r, c) = here(r, c) * 3 + left(r, 0) - up(0, c);
                        }
                    }
                });
            }
        }
    }
    work.taskwait();
}

// Holds: tiles_view: It has the functions of tiles<T> that name tiles, so one function template
//     serves both.
TEST_P(tiles_view_test, computes_what_tile_layout_computes) {
    inside([] {
        constexpr std::size_t k_leading = 41;
        std::vector<unsigned> a(k_leading * 29);
        std::iota(a.begin(), a.end(), 0U);
        const std::vector<unsigned> before = a;
        quern::tiles<unsigned> in_tiles(37, 29, 7, 5);
        in_tiles.copy_from(a.data(), k_leading);
        tiles_view<unsigned> in_columns(a.data(), k_leading, 37, 29, 7, 5);
        run_wavefront(in_tiles);
        run_wavefront(in_columns);
        for (std::size_t c = 0; c < 29; ++c) {
            for (std::size_t r = 0; r < k_leading; ++r) {
                ASSERT_EQ(a[c * k_leading + r],
                          r < 37 ? in_tiles(r, c) : before[c * k_leading + r]);
            }
        }
        std::atomic<int> tiles{0};
        in_columns.for_each_tile([&tiles](std::size_t, std::size_t) { ++tiles; },
                                 in_columns.round_robin());
        EXPECT_EQ(tiles, 36);
    });
}

// Holds: tiles_view: std::invalid_argument for an extent that is not positive, a leading dimension
//     smaller than the rows, a null pointer, and for more bytes than memory has.
TEST(tiles_view_numbers, names_what_is_wrong) {
    std::vector<int> a(16);
    const auto made = [&a](int* first, std::ptrdiff_t leading, std::ptrdiff_t rows,
                           std::ptrdiff_t columns, std::ptrdiff_t tile) {
        return message_of_wrong_view(
            [=] { tiles_view<int>(first, leading, rows, columns, tile, tile); });
    };
    EXPECT_EQ(made(a.data(), 4, 0, 4, 2),
              "quern: tiles: rows is 0; accepted: a whole number from 1");
    EXPECT_EQ(made(a.data(), 4, 4, 4, -2),
              "quern: tiles: tile_rows is -2; accepted: a whole number from 1");
    for (const char* leading : {"3", "-4"}) {
        EXPECT_EQ(made(a.data(), std::stol(leading), 4, 4, 2),
                  std::string("quern: tiles: leading_dimension is ") + leading +
                      "; accepted: a whole number from the number of rows, 4");
    }
    EXPECT_EQ(made(nullptr, 4, 4, 4, 2), "quern: a region of 4 x 4 elements at a null pointer");
    EXPECT_EQ(made(a.data(), std::ptrdiff_t{1} << 60, 4, 4, 2),
              "quern: a region of 4 x 4 elements with a pitch of 1152921504606846976: more than "
              "memory has");
    EXPECT_EQ(
        message_of_wrong_view(
            [&a] { static_cast<void>(quern::in(strided_tile<int>(a.data(), 4, 4, 3))); }),
        "quern: a distance (pitch) of 3 elements in the first of 2 dimensions: at least 4 are "
        "needed, the extent of what is repeated");
}

}  // namespace
