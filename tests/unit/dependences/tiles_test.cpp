// SPDX-License-Identifier: BSL-1.0
// tiles: layout, conversions, tiles as accesses, the workers that touch first, errors.
#include <quern/dependences/domain.hpp>
#include <quern/dependences/tiles.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <new>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using quern::matrix_tile;
using quern::tiles;

class tiles_test : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(tiles_test);

double number_at(std::size_t row, std::size_t column) {
    return static_cast<double>(row) * 1000 + static_cast<double>(column);
}

template <class F>
std::string message_of_wrong_tiles(F&& f) {
    try {
        f();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "no exception";
}

static_assert(std::ranges::contiguous_range<matrix_tile<double>>);
static_assert(std::ranges::borrowed_range<matrix_tile<const double>>);
static_assert(std::is_convertible_v<matrix_tile<int>, matrix_tile<const int>>);
static_assert(!std::is_convertible_v<matrix_tile<const int>, matrix_tile<int>>);

// Holds: tiles: tile (i, j) begins at a cache line and is contiguous.
// Holds: tiles: Tiles of the last row and column are smaller when the extents are no multiples.
TEST(tiles, cover_the_matrix) {
    tiles<double> a(10, 7, 4, 3);
    EXPECT_EQ(std::make_pair(a.rows(), a.columns()),
              std::make_pair(std::size_t{10}, std::size_t{7}));
    EXPECT_EQ(a.grid_rows(), 3U);
    EXPECT_EQ(a.grid_columns(), 3U);
    std::set<const double*> elements;
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
            const matrix_tile<double> t = a.tile(i, j);
            EXPECT_EQ(t.rows(), i < 2 ? 4U : 2U);
            EXPECT_EQ(t.columns(), j < 2 ? 3U : 1U);
            EXPECT_EQ(t.leading_dimension(), t.rows());
            EXPECT_EQ(t.size(), t.rows() * t.columns());
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(t.data()) % 64, 0U);
            for (double& x : t) {
                elements.insert(&x);
            }
        }
    }
    EXPECT_EQ(elements.size(), 70U);
    for (std::size_t r = 0; r < 10; ++r) {
        for (std::size_t c = 0; c < 7; ++c) {
            EXPECT_EQ(&a(r, c), &a.tile(r / 4, c / 3)(r % 4, c % 3));
            EXPECT_TRUE(elements.contains(&std::as_const(a)(r, c)));
        }
    }
}

// Holds: tiles: Tiles that are larger than the matrix are as large as it is.
TEST(tiles, may_be_one) {
    tiles<int> a(3, 5, 100, 1'000'000'000);
    EXPECT_EQ(a.grid_rows() * a.grid_columns(), 1U);
    EXPECT_EQ(a.tile_rows(), 3U);
    EXPECT_EQ(a.tile(0, 0).size(), 15U);
}

TEST(tiles, have_columns_without_gaps) {
    tiles<std::complex<float>> a(6, 4, 3, 2);
    const auto t = a.tile(1, 1);
    EXPECT_EQ(t.column(1).data(), t.data() + 3);
    EXPECT_EQ(&t(2, 1), t.data() + 5);
    EXPECT_EQ(t.end() - t.begin(), 6);
}

// Holds: tiles: From and to a matrix by columns, `leading_dimension` elements from column to column.
TEST_P(tiles_test, are_copied_from_and_to_columns) {
    inside([] {
        constexpr std::size_t k_rows = 23, k_columns = 17, k_leading = 29;
        std::vector<double> from(k_leading * k_columns);
        std::iota(from.begin(), from.end(), 0.0);
        tiles<double> a(k_rows, k_columns, 5, 4);
        a.copy_from(from.data(), k_leading);
        for (std::size_t r = 0; r < k_rows; ++r) {
            for (std::size_t c = 0; c < k_columns; ++c) {
                ASSERT_EQ(a(r, c), from[c * k_leading + r]) << r << ' ' << c;
            }
        }
        std::vector<double> to(k_leading * k_columns, -1.0);
        a.copy_to(to.data(), k_leading);
        for (std::size_t i = 0; i < to.size(); ++i) {  // nothing between the columns is written
            ASSERT_EQ(to[i], i % k_leading < k_rows ? from[i] : -1.0);
        }
    });
}

// Holds: tiles: Sets every element to f(row, column).
TEST_P(tiles_test, are_assigned_by_row_and_column) {
    inside([] {
        tiles<double> a(20, 30, 7, 7);
        a.assign(number_at);
        for (std::size_t r = 0; r < 20; ++r) {
            for (std::size_t c = 0; c < 30; ++c) {
                ASSERT_EQ(a(r, c), number_at(r, c));
            }
        }
        a.touch();
        EXPECT_EQ(std::count(a.tile(0, 0).begin(), a.tile(0, 0).end(), 0.0), 49);
        EXPECT_EQ(a(19, 29), 0.0);
    });
}

// Holds: tiles: assign(), touch() and copy_from() use a task for each tile, in the worker that
//     `where` names.
TEST_P(tiles_test, are_first_touched_by_tasks_of_the_named_workers) {
    inside([] {
        tiles<int> a(64, 64, 16, 16);
        std::atomic<int> asked{0};
        a.assign([](std::size_t, std::size_t) { return quern::current_worker_rank(); },
                 [&](std::size_t i, std::size_t) {
                     ++asked;
                     return static_cast<int>(i);
                 });
        EXPECT_EQ(asked, 16);
        for (std::size_t i = 0; i < 4; ++i) {
            const auto t = a.tile(i, i);
            // A hint: which worker it is may be another one's choice, but one task has one.
            EXPECT_GE(t(0, 0), 0);
            EXPECT_EQ(std::count(t.begin(), t.end(), t(0, 0)), 256);
        }
    });
}

TEST_P(tiles_test, throw_what_the_function_throws) {
    inside([] {
        tiles<int> a(64, 64, 16, 16);
        const auto fails = [](std::size_t row, std::size_t) -> int {
            return row == 40 ? throw std::runtime_error("row 40") : 1;
        };
        EXPECT_THROW(a.assign(fails), std::runtime_error);
    });
}

// Holds: tiles: in(A.tile(i, j)), out, inout and concurrent take a tile as one region; the body gets
//     a std::span of the elements, or captures the tile.
TEST_P(tiles_test, are_accesses) {
    inside([] {
        tiles<double> a(12, 12, 5, 5);
        a.touch();
        quern::domain work;
        for (int step = 0; step < 50; ++step) {
            for (std::size_t i = 0; i < 3; ++i) {
                const matrix_tile<double> t = a.tile(i, i);
                work.spawn(quern::in(a.tile(0, 0)), quern::inout(a.tile(2, i)),
                           [](std::span<const double> from, std::span<double> to) {
                               EXPECT_EQ(from.size(), 25U);
                               to[0] = to[0] * 3 + from[0] + 1;
                           });
                work.spawn(quern::inout(t), [t] { t(0, 0) += 1; });
            }
        }
        work.taskwait();
        EXPECT_EQ(a(0, 0), 50.0);
        double first = 0, expected = 0;
        for (int step = 0; step < 50; ++step) {  // the serial program, of tile (2, 0)
            expected = expected * 3 + first + 1;
            first += 1;
        }
        EXPECT_EQ(a(10, 0), expected);
    });
}

// Holds: tiles: Moving keeps the elements in place, so tiles stay valid.
TEST(tiles, can_be_moved) {
    tiles<int> a(4, 4, 2, 2);
    const matrix_tile<int> t = a.tile(1, 1);
    t(0, 0) = 7;
    const tiles<int> b = std::move(a);
    EXPECT_EQ(b.tile(1, 1).data(), t.data());
    EXPECT_EQ(b(2, 2), 7);
}

// Holds: tiles: std::invalid_argument for an extent that is not positive.
TEST(tiles, name_the_wrong_extent) {
    EXPECT_EQ(message_of_wrong_tiles([] { tiles<int>(0, 4, 2, 2); }),
              "quern: tiles: rows is 0; accepted: a whole number from 1");
    EXPECT_EQ(message_of_wrong_tiles([] { tiles<int>(4, -3, 2, 2); }),
              "quern: tiles: columns is -3; accepted: a whole number from 1");
    EXPECT_EQ(message_of_wrong_tiles([] { tiles<int>(4, 4, -1, 2); }),
              "quern: tiles: tile_rows is -1; accepted: a whole number from 1");
    EXPECT_EQ(message_of_wrong_tiles([] { tiles<int>(4, 4, 2, 0); }),
              "quern: tiles: tile_columns is 0; accepted: a whole number from 1");
    EXPECT_EQ(message_of_wrong_tiles([] {
                  std::vector<int> from(16);
                  tiles<int>(4, 4, 2, 2).copy_from(from.data(), 3);
              }),
              "quern: tiles: leading_dimension is 3; accepted: a whole number from the number of "
              "rows, 4");
}

#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // their operator new ends the program
TEST(tiles, larger_than_memory_throw_bad_alloc) {
    constexpr std::ptrdiff_t k_large = std::ptrdiff_t{1} << 40;
    EXPECT_THROW(tiles<double>(k_large, k_large, 1000, 1000), std::bad_alloc);
    EXPECT_THROW(tiles<double>(k_large, 1, k_large, 1), std::bad_alloc);
}
#endif

}  // namespace
