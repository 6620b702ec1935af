// SPDX-License-Identifier: BSL-1.0
// Distances between units, and the order in which workers look for victims.
#include "invented_machine.hpp"

#include <quern/topology/distance.hpp>

#include <set>

namespace {

using quern::topology::distance_map;
using quern::topology::k_none;
using quern::topology::machine;
using quern::topology::nearest_first;
using quern::topology::ring;

unsigned between(const machine& on, unsigned a, unsigned b) {
    return distance_map(on)(*on.find(a), *on.find(b));
}

TEST(distance, rises_with_each_level_that_is_not_shared) {
    // 2 packages, 2 nodes each, 2 L3 each, 2 cores each, 2 units each: unit 0 against the first
    // unit beyond each level.
    const machine on = fake::invent({2, 2, 2, 2, 2});
    EXPECT_EQ(between(on, 0, 0), 0u);
    EXPECT_EQ(between(on, 0, 1), 1u);
    EXPECT_EQ(between(on, 0, 2), 3u);
    EXPECT_EQ(between(on, 0, 4), 4u);
    EXPECT_EQ(between(on, 0, 8), 5u);
    EXPECT_EQ(between(on, 0, 16), 6u);
    EXPECT_EQ(between(on, 0, 31), 6u);
}

TEST(distance, a_shared_level_2_cache_is_nearer_than_a_shared_level_3_cache) {
    machine on = fake::invent({1, 1, 1, 3, 1});
    on.pus[0].l2 = on.pus[1].l2 = 7;
    EXPECT_EQ(between(on, 0, 1), 2u);
    EXPECT_EQ(between(on, 0, 2), 3u);
    on.pus[0].l3 = on.pus[2].l3 = k_none;
    EXPECT_EQ(between(on, 0, 2), 4u);
    on.pus[0].l2 = on.pus[2].l2 = k_none;
    EXPECT_EQ(between(on, 0, 2), 4u);
}

TEST(distance, is_symmetrical_on_regular_machines) {
    const machine on = fake::invent({2, 2, 1, 2, 2});
    const distance_map apart(on);
    for (const auto& a : on.pus) {
        for (const auto& b : on.pus) {
            EXPECT_EQ(apart(a, b), apart(b, a));
        }
    }
}

TEST(distance, follows_the_firmware_between_nodes) {
    machine on = fake::invent({4, 1, 1, 1, 1});
    on.numa_distances = {{10, 32, 16, 32}, {32, 10, 32, 16}, {16, 32, 10, 32}, {32, 16, 32, 10}};
    EXPECT_EQ(between(on, 0, 2), 5u);
    EXPECT_EQ(between(on, 0, 1), 6u);
    EXPECT_EQ(between(on, 0, 3), 6u);
    EXPECT_EQ(between(on, 1, 3), 5u);
}

TEST(distance, two_packages_on_one_node_are_remote) {
    const machine on = fake::invent({2, 0, 1, 2, 1});
    ASSERT_EQ(on.numa_nodes.size(), 1u);
    EXPECT_EQ(between(on, 0, 1), 3u);
    EXPECT_EQ(between(on, 0, 2), 5u);
}

TEST(nearest_first_rings, are_exact_on_a_small_machine) {
    const machine on = fake::invent({2, 1, 1, 2, 2});
    const auto rings = nearest_first(on, on.all_pus());
    EXPECT_EQ(rings[0], (std::vector<ring>{{1, {1}}, {3, {2, 3}}, {5, {4, 5, 6, 7}}}));
    EXPECT_EQ(rings[3], (std::vector<ring>{{1, {2}}, {3, {0, 1}}, {5, {4, 5, 6, 7}}}));
    EXPECT_EQ(rings[6], (std::vector<ring>{{1, {7}}, {3, {4, 5}}, {5, {0, 1, 2, 3}}}));
}

TEST(nearest_first_rings, start_behind_the_worker_itself) {
    const machine on = fake::invent({1, 1, 1, 4, 1});
    const auto rings = nearest_first(on, on.all_pus());
    EXPECT_EQ(rings[0], (std::vector<ring>{{3, {1, 2, 3}}}));
    EXPECT_EQ(rings[1], (std::vector<ring>{{3, {2, 3, 0}}}));
    EXPECT_EQ(rings[3], (std::vector<ring>{{3, {0, 1, 2}}}));
}

TEST(nearest_first_rings, put_workers_on_one_unit_nearest_and_unbound_ones_last) {
    const machine on = fake::invent({1, 1, 1, 2, 1});
    const auto rings = nearest_first(on, std::vector<unsigned>{0, 1, 0, k_none});
    EXPECT_EQ(rings[0], (std::vector<ring>{{0, {2}}, {3, {1}}, {k_none, {3}}}));
    EXPECT_EQ(rings[3], (std::vector<ring>{{k_none, {0, 1, 2}}}));
}

TEST(nearest_first_rings, hold_every_other_worker_once_in_rising_order) {
    for (const unsigned packages : {1u, 2u, 4u, 8u}) {
        const machine on = fake::invent({packages, 1, 2, 2, 2});
        const auto rings = nearest_first(on, on.all_pus());
        ASSERT_EQ(rings.size(), on.pus.size());
        for (unsigned self = 0; self < rings.size(); ++self) {
            std::set<unsigned> seen{self};
            for (std::size_t r = 0; r < rings[self].size(); ++r) {
                EXPECT_TRUE(r == 0 || rings[self][r - 1].distance < rings[self][r].distance);
                for (const unsigned other : rings[self][r].workers) {
                    EXPECT_TRUE(seen.insert(other).second);
                }
            }
            EXPECT_EQ(seen.size(), rings.size());
        }
    }
}

TEST(nearest_first_rings, of_one_or_no_worker_are_empty) {
    const machine on = fake::invent({});
    EXPECT_TRUE(nearest_first(on, {}).empty());
    const auto alone = nearest_first(on, std::vector<unsigned>{0});
    ASSERT_EQ(alone.size(), 1u);
    EXPECT_TRUE(alone[0].empty());
}

}  // namespace
