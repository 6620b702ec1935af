// SPDX-License-Identifier: BSL-1.0
// Regions of several rows.
#include <quern/dependences/access_list.hpp>
#include <quern/dependences/block.hpp>
#include <quern/dependences/domain.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using quern::block;
using quern::domain;
using quern::in;
using quern::inout;
using quern::out;
using quern::strided;

class domain_blocks : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(domain_blocks);

constexpr std::ptrdiff_t k_side = 12;
constexpr std::ptrdiff_t k_tile = 4;

double& at(std::vector<double>& matrix, std::ptrdiff_t i, std::ptrdiff_t j) {
    return matrix[static_cast<std::size_t>(i * k_side + j)];
}

auto tile(std::vector<double>& matrix, std::ptrdiff_t i, std::ptrdiff_t j) {
    return block(&at(matrix, i * k_tile, j * k_tile), k_side, k_tile, k_tile);
}

// Holds: domain: A part of a matrix: two blocks that share no element are not ordered.
TEST_P(domain_blocks, neighbours_are_not_ordered) {
    inside([] {
        std::vector<double> matrix(k_side * k_side);
        domain work;
        std::atomic<bool> is_open{false};
        work.spawn(inout(tile(matrix, 0, 0)), [&] {
            while (!is_open) {
                quern::this_task::yield();
            }
        });
        work.spawn(inout(tile(matrix, 0, 1)), [] {});
        work.spawn(inout(tile(matrix, 1, 0)), [] {});
        work.spawn(inout(tile(matrix, 0, 1)), [&] { is_open = true; });
        work.taskwait();
    });
}

// Holds: domain: blocks, rows and the whole matrix are ordered where they share an element.
TEST_P(domain_blocks, overlaps_with_rows_and_with_the_whole_are_ordered) {
    inside([] {
        std::vector<double> matrix(k_side * k_side);
        domain work;
        const auto step = [&](double factor) {
            work.spawn(inout(matrix), [factor](auto all) {
                for (double& x : all) {
                    x = x * factor + 1;
                }
            });
            for (std::ptrdiff_t i = 0; i < k_side / k_tile; ++i) {
                for (std::ptrdiff_t j = 0; j < k_side / k_tile; ++j) {
                    work.spawn(inout(tile(matrix, i, j)), [](strided<double, 2> part) {
                        for (std::ptrdiff_t r = 0; r < part.rows(); ++r) {
                            for (double& x : part.row(r)) {
                                x += static_cast<double>(r);
                            }
                        }
                    });
                }
            }
            // Across tiles.
            work.spawn(inout(block(&at(matrix, 2, 2), k_side, 5, 5)), [](auto part) {
                for (std::ptrdiff_t r = 0; r < part.rows(); ++r) {
                    for (std::ptrdiff_t c = 0; c < part.columns(); ++c) {
                        part(r, c) *= 2;
                    }
                }
            });
            work.spawn(inout(&at(matrix, 3, 0), k_side), [](auto row) {
                for (double& x : row) {
                    x -= 1;
                }
            });
        };
        std::vector<double> expected(k_side * k_side);
        const auto same_serially = [&](double factor) {
            for (std::ptrdiff_t i = 0; i < k_side; ++i) {
                for (std::ptrdiff_t j = 0; j < k_side; ++j) {
                    double& x = at(expected, i, j);
                    x = x * factor + 1 + static_cast<double>(i % k_tile);
                    x *= i >= 2 && i < 7 && j >= 2 && j < 7 ? 2 : 1;
                    x -= i == 3 ? 1 : 0;
                }
            }
        };
        for (int round = 0; round < 20; ++round) {
            step(round % 3);
            same_serially(round % 3);
        }
        work.taskwait();
        EXPECT_EQ(matrix, expected);
    });
}

// Holds: domain: Elements at equal distances in N dimensions.
TEST_P(domain_blocks, regions_have_up_to_four_dimensions) {
    inside([] {
        std::vector<int> all(5 * 5 * 5 * 5, 0);
        domain work;
        const auto part = [&](std::ptrdiff_t a, std::ptrdiff_t b) {
            return strided<int, 4>(&all[static_cast<std::size_t>(a * 125 + b * 25)], {2, 2, 2, 2},
                                   {125, 25, 5});
        };
        const auto add = [&](std::ptrdiff_t a, std::ptrdiff_t b, int n) {
            work.spawn(inout(part(a, b)), [n](strided<int, 4> p) {
                for (int i = 0; i < 16; ++i) {
                    int& x = p(i / 8, i / 4 % 2, i / 2 % 2, i % 2);
                    x = x * 10 + n;
                }
            });
        };
        add(0, 0, 1);
        add(1, 1, 2);
        add(2, 2, 3);
        add(0, 0, 4);
        work.taskwait();
        EXPECT_EQ(all[0], 14);
        EXPECT_EQ(all[125 + 25], 124);
        EXPECT_EQ(all[250 + 50], 23);
        EXPECT_EQ(all[375 + 75], 3);
        EXPECT_EQ(all[2], 0);
    });
}

// Holds: domain: blocks may be in a list, and be waited for.
TEST_P(domain_blocks, lists_and_waits_take_blocks) {
    inside([] {
        std::vector<double> matrix(k_side * k_side);
        domain work;
        work.spawn(inout(tile(matrix, 1, 1)), [](auto part) {
            quern::this_task::yield();
            part(3, 3) = 1;
        });
        quern::access_list list;
        list.add(in(tile(matrix, 1, 1)));
        work.spawn(list, out(at(matrix, 0, 0)), [&](double& x) { x = at(matrix, 7, 7); });
        work.taskwait(quern::on(in(tile(matrix, 0, 0))));
        EXPECT_EQ(matrix[0], 1);
        work.taskwait(quern::on(tile(matrix, 1, 1)));
    });
}

// Holds: domain: Throws std::invalid_argument for a negative count, for a distance smaller than
//     what it repeats, for a null pointer unless a count is 0, and for more bytes than memory has.
TEST(strided, refuses_what_is_no_region) {
    double x[4] = {};
    const auto message = [](const std::function<void()>& make) -> std::string {
        try {
            make();
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "nothing was thrown";
    };
    EXPECT_EQ(
        message([&] { block(x, 2, -1, 2); }),
        "quern: a region of -1 elements in the first of 2 dimensions: the number is negative");
    EXPECT_EQ(
        message([&] { block(x, 1, 2, 2); }),
        "quern: a distance (pitch) of 1 elements in the first of 2 dimensions: at least 2 are "
        "needed, the extent of what is repeated");
    EXPECT_EQ(message([&] { block(static_cast<double*>(nullptr), 2, 2, 2); }),
              "quern: a region of 2 x 2 elements at a null pointer");
    EXPECT_EQ(message([&] { block(x, PTRDIFF_MAX / 16, 1000, 2); }),
              "quern: a region of 1000 x 2 elements with a pitch of " +
                  std::to_string(PTRDIFF_MAX / 16) + ": more than memory has");
    EXPECT_EQ(message([&] { (void)block(static_cast<double*>(nullptr), 2, 0, 2); }),
              "nothing was thrown");
}

// A region is described in one way, however it is named.
TEST_P(domain_blocks, rows_that_touch_are_one_range) {
    inside([] {
        std::vector<double> v(12);
        domain work;
        std::atomic<bool> is_open{false};
        work.spawn(out(block(v.data(), 3, 2, 3)), [&] {
            while (!is_open) {
                quern::this_task::yield();
            }
        });
        work.spawn(out(&v[6], 6), [&] { is_open = true; });  // beside
        work.spawn(inout(v.data(), 6), [](auto all) { all[5] = 1; });
        work.spawn(inout(block(v.data(), 6, 1, 6)), [](auto all) { all(0, 5) += 1; });
        work.taskwait();
        EXPECT_EQ(v[5], 2);
    });
}

}  // namespace
