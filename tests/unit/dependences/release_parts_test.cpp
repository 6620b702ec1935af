// SPDX-License-Identifier: BSL-1.0
// this_task::release of a part of an access: who begins then, who does not, and what is refused.
#include <quern/dependences/access_list.hpp>
#include <quern/dependences/block.hpp>
#include <quern/dependences/domain.hpp>
#include <quern/dependences/reduction.hpp>
#include <quern/dependences/release.hpp>
#include <quern/dependences/spawn.hpp>

#include "unit/dependences/gates.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <array>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <vector>

namespace {

using quern::block;
using quern::domain;
using quern::in;
using quern::inout;
using quern::out;
using quern_test::opens;
using quern_test::scaled;

class release_parts : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(release_parts);

// Holds: domain: A part of an access is released alone: tasks that use no other byte of the access
//     begin, others do not.
TEST_P(release_parts, those_that_use_the_part_alone_begin) {
    inside([] {
        domain work;
        std::array<int, 8> data{};
        std::atomic<bool> are_spawned{false};
        std::atomic<bool> first_began{false};
        std::atomic<bool> second_began{false};
        std::atomic<bool> rest_began{false};
        bool was_right = false;
        work.spawn(inout(data.data(), 8), [&](auto all) {
            all[2] = 1;
            opens(are_spawned);
            quern::this_task::release(inout(&data[2], 2));
            was_right = opens(first_began) && opens(second_began) && !rest_began;
            all[4] = 2;
        });
        work.spawn(in(&data[2], 2), [&](auto part) {
            EXPECT_EQ(part[0], 1);
            first_began = true;
        });
        work.spawn(inout(&data[3], 2), [&](auto part) {
            EXPECT_EQ(part[1], 2);
            rest_began = true;
        });
        are_spawned = true;
        // Spawned perhaps before the release, perhaps after it.
        work.spawn(in(data[2]), [&] { second_began = true; });
        work.taskwait();
        EXPECT_TRUE(was_right);
        EXPECT_TRUE(rest_began);
    });
}

// Holds: domain: A part of an access is released alone...
TEST_P(release_parts, the_owner_continues_that_waits_for_the_part_alone) {
    inside([] {
        domain work;
        std::array<int, 8> data{};
        for (const bool is_late : {false, true}) {
            std::atomic<bool> is_released{false};
            std::atomic<bool> has_continued{false};
            bool was_right = false;
            work.spawn(inout(data.data(), 8), [&](auto all) {
                all[7] = 1;
                quern::this_task::yield();
                quern::this_task::release(out(&data[6], 2));
                is_released = true;
                was_right = opens(has_continued);
            });
            if (is_late) {
                opens(is_released);
            }
            work.taskwait(quern::on(in(&data[7], 1)));
            EXPECT_EQ(data[7], 1);
            has_continued = true;
            work.taskwait();
            EXPECT_TRUE(was_right);
        }
    });
}

// Holds: domain: A part of an access is released alone...
TEST_P(release_parts, of_a_block_by_columns) {
    inside([] {
        domain work;
        std::vector<double> matrix(100);
        std::atomic<bool> left_began{false};
        bool was_right = false;
        work.spawn(inout(block(matrix.data(), 10, 6, 6)), [&](auto) {
            quern::this_task::release(inout(block(matrix.data(), 10, 6, 3)));
            was_right = opens(left_began);
            matrix[33] = 1;
        });
        work.spawn(in(block(&matrix[22], 10, 2, 1)), [&](auto) { left_began = true; });
        work.spawn(in(block(&matrix[22], 10, 2, 2)), [&](auto m) { EXPECT_EQ(m(1, 1), 1); });
        work.taskwait();
        EXPECT_TRUE(was_right);
    });
}

// Holds: domain: Children that use the part are waited for first.
TEST_P(release_parts, children_are_waited_for) {
    inside([] {
        for (int round = 0; round < scaled(100, 20); ++round) {
            domain work;
            std::array<int, 2> data{};
            std::atomic<bool> has_begun{false};
            bool was_right = false;
            work.spawn(inout(data), [&](auto& all) {
                quern::spawn(inout(all[0]), [](int& v) {
                    quern::this_task::yield();
                    v = 1;
                });
                quern::spawn(inout(all[1]), [&](int& v) {
                    was_right = opens(has_begun);
                    v = 2;
                });
                quern::this_task::release(inout(all[0]));
            });
            work.spawn(in(data[0]), [&](const int& v) {
                EXPECT_EQ(v, 1);
                has_begun = true;
            });
            work.spawn(in(data), [](const auto& all) { EXPECT_EQ(all[1], 2); });
            work.taskwait();
            EXPECT_TRUE(was_right);
        }
    });
}

// Holds: domain: A part on which a child has failed is kept: no task runs on data that were not
//     computed.
TEST_P(release_parts, a_failed_child_keeps_the_part) {
    inside([] {
        for (int round = 0; round < scaled(100, 20); ++round) {
            domain work;
            std::array<int, 2> data{};
            std::atomic<int> later{0};
            work.spawn(inout(data), [&](auto& all) {
                quern::spawn(inout(all[0]), [round](int&) {
                    if (round % 2 == 0) {
                        quern::this_task::yield();
                    }
                    throw std::runtime_error("child");
                });
                quern::this_task::yield();
                quern::this_task::release(inout(all[0]));
                quern::this_task::yield();
            });
            work.spawn(in(data[0]), [&later] { ++later; });
            EXPECT_THROW(work.taskwait(), std::runtime_error);
            EXPECT_EQ(later, 0);
        }
    });
}

// Holds: domain: A part of an access is released alone...
TEST_P(release_parts, while_others_are_spawned) {
    inside([] {
        domain work;
        std::vector<unsigned long> data(64);
        for (int round = 0; round < scaled(200, 40); ++round) {
            work.spawn(inout(data), [](auto all) {
                for (std::size_t i = 0; i < all.size(); i += 4) {
                    all[i] += 1;
                    quern::this_task::release(inout(&all[i], 4));
                }
            });
            for (std::size_t i = 0; i < data.size(); i += 8) {
                work.spawn(inout(&data[i], 4), [](auto part) { part[0] *= 3; });
                work.spawn(inout(&data[i + 2], 4), [](auto part) { part[2] += 2; });
            }
            if (round % 16 == 15) {
                work.taskwait();
            }
        }
        work.taskwait();
        unsigned long first = 0;
        unsigned long second = 0;
        for (int round = 0; round < scaled(200, 40); ++round) {
            first = (first + 1) * 3;
            second += 3;
        }
        for (std::size_t i = 0; i < data.size(); i += 8) {
            EXPECT_EQ(data[i], first);
            EXPECT_EQ(data[i + 4], second);
        }
    });
}

// Holds: domain: A part that is no part of an access, or was released, is refused.
TEST_P(release_parts, what_cannot_be_released_is_refused) {
    inside([] {
        domain work;
        std::array<int, 8> data{};
        std::array<int, 4> set{};
        const auto refused = [](auto access) {
            EXPECT_THROW(quern::this_task::release(access), std::invalid_argument);
        };
        work.spawn(inout(data.data(), 6), quern::commutative(set.data(), 4), [&](auto, auto) {
            refused(inout(&data[4], 3));  // not all of it
            refused(in(&data[4], 1));     // another kind
            refused(quern::commutative(&set[1], 1));
            quern::this_task::release(out(&data[2], 2));
            refused(inout(&data[2], 2));
            refused(inout(&data[3], 2));
            quern::this_task::release(inout(&data[0], 2), inout(&data[4], 1));
            quern::this_task::release(inout(data.data(), 6));  // the rest
            refused(inout(&data[5], 1));
        });
        work.spawn(inout(&data[1], 4), [](auto) {});
        work.taskwait();
        work.spawn({.final = true}, inout(data.data(), 8), [&](auto) {
            quern::access_list list;
            list.add(inout(data.data(), 4));
            quern::spawn(list, inout(&data[4], 4), [&](auto) {
                quern::this_task::release(inout(&data[1], 1), inout(&data[5], 2));
                refused(inout(&data[3], 2));
                refused(inout(&data[1], 1));
            });
        });
        work.taskwait();
    });
}

}  // namespace
