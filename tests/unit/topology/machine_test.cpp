// SPDX-License-Identifier: BSL-1.0
// The readers of the machine: complete, incomplete and broken /sys trees, hwloc's synthetic
// machines, and that both readers agree.
#include "invented_machine.hpp"

#include <quern/topology/machine.hpp>

#include <cstdlib>
#include <stdexcept>

namespace {

using quern::topology::hwloc_version;
using quern::topology::k_none;
using quern::topology::machine;
using quern::topology::machine_source;
using quern::topology::processing_unit;

constexpr const char* k_no_hwloc = "this build has no hwloc";

TEST(machine_from_sysfs, two_packages_with_two_nodes_each_and_smt) {
    const machine made = fake::invent({2, 2, 1, 2, 2});
    EXPECT_TRUE(made.notes.empty());
    EXPECT_EQ(made.pu_count(), 16u);
    EXPECT_EQ(made.cores.size(), 8u);
    EXPECT_EQ(made.package_count(), 2u);
    ASSERT_EQ(made.numa_nodes.size(), 4u);
    EXPECT_EQ(made.numa_nodes[1].pus, (std::vector<unsigned>{4, 5, 6, 7}));
    EXPECT_EQ(made.numa_nodes[1].memory_bytes, std::uint64_t{1} << 30);
    EXPECT_EQ(made.caches.size(), 8u + 4u);
    EXPECT_EQ(made.caches.front().level, 2u);
    EXPECT_EQ(made.caches.front().size_bytes, 1u << 20);
    EXPECT_EQ(made.caches.back().level, 3u);
    EXPECT_EQ(made.caches.back().size_bytes, 32u << 20);
    EXPECT_EQ(made.caches.back().id, 3u);
    EXPECT_EQ(*made.find(11), (processing_unit{11, 5, 1, 2, 5, 2, 1}));
    EXPECT_EQ(made.find(16), nullptr);
}

TEST(machine_from_sysfs, units_follow_the_hierarchy_and_not_the_numbers) {
    const machine made = fake::invent({2, 1, 1, 2, 2, fake::numbering::first_threads_first});
    std::vector<unsigned> order;
    for (const processing_unit& pu : made.pus) {
        order.push_back(pu.os_index);
    }
    EXPECT_EQ(order, (std::vector<unsigned>{0, 4, 1, 5, 2, 6, 3, 7}));
    EXPECT_EQ(made.cores[1].pus, (std::vector<unsigned>{1, 5}));
    EXPECT_EQ(made.find(5)->smt_rank, 1u);
    EXPECT_EQ(made.all_pus(), (std::vector<unsigned>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(machine_from_sysfs, a_list_of_cpus_alone_makes_a_flat_machine) {
    fake::tree tree;
    tree.file("/sys/devices/system/cpu/online", "0-1,4\n");
    const machine made = machine::from_sysfs(tree.root());
    EXPECT_EQ(made.all_pus(), (std::vector<unsigned>{0, 1, 4}));
    EXPECT_EQ(made.cores.size(), 3u);
    EXPECT_EQ(made.numa_nodes.size(), 1u);
    EXPECT_EQ(made.numa_nodes[0].pus.size(), 3u);
    EXPECT_EQ(made.find(4)->l3, k_none);
    EXPECT_TRUE(made.caches.empty());
}

TEST(machine_from_sysfs, an_empty_tree_is_one_unit_and_a_note) {
    fake::tree tree;
    const machine made = machine::from_sysfs(tree.root());
    EXPECT_EQ(made.pu_count(), 1u);
    ASSERT_EQ(made.notes.size(), 1u);
    EXPECT_NE(made.notes[0].find("cpu/online"), std::string::npos);
}

TEST(machine_from_sysfs, malformed_files_are_noted_and_replaced_by_the_simplest_machine) {
    fake::tree tree;
    tree.file("/sys/devices/system/cpu/online", "0-1");
    tree.file("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "seven");
    tree.file("/sys/devices/system/cpu/cpu1/topology/physical_package_id", "-1");
    tree.file("/sys/devices/system/cpu/cpu0/topology/core_cpus_list", "0-");
    tree.file("/sys/devices/system/cpu/cpu0/cache/index0/level", "");
    tree.file("/sys/devices/system/node/online", "none");
    const machine made = machine::from_sysfs(tree.root());
    EXPECT_EQ(made.pu_count(), 2u);
    EXPECT_EQ(made.package_count(), 1u);
    EXPECT_EQ(made.notes.size(), 4u);
}

TEST(machine_from_sysfs, numa_distances_are_read_when_they_form_a_square) {
    fake::tree tree;
    fake::write_machine(tree, {2, 1, 1, 1, 1});
    tree.file("/sys/devices/system/node/node0/distance", "10 21\n")
        .file("/sys/devices/system/node/node1/distance", "21 10\n");
    EXPECT_EQ(machine::from_sysfs(tree.root()).numa_distances,
              (std::vector<std::vector<std::uint64_t>>{{10, 21}, {21, 10}}));
    tree.file("/sys/devices/system/node/node1/distance", "21\n");
    const machine broken = machine::from_sysfs(tree.root());
    EXPECT_TRUE(broken.numa_distances.empty());
    EXPECT_EQ(broken.notes.size(), 1u);
    tree.file("/sys/devices/system/node/node1/distance", "21 ten\n");
    const machine malformed = machine::from_sysfs(tree.root());
    EXPECT_TRUE(malformed.numa_distances.empty());
    EXPECT_EQ(malformed.notes.size(), 2u);
}

TEST(machine_from_sysfs, a_node_of_memory_alone_has_no_units) {
    fake::tree tree;
    fake::write_machine(tree, {1, 1, 1, 2, 1});
    tree.file("/sys/devices/system/node/online", "0,2")
        .file("/sys/devices/system/node/node2/cpulist", "\n");
    const machine made = machine::from_sysfs(tree.root());
    ASSERT_EQ(made.numa_nodes.size(), 2u);
    EXPECT_EQ(made.numa_nodes[1].os_index, 2u);
    EXPECT_TRUE(made.numa_nodes[1].pus.empty());
    EXPECT_EQ(made.pus.back().numa_node, 0u);
}

TEST(machine_synthetic, agrees_with_the_same_machine_in_sysfs) {
    if (hwloc_version().empty()) {
        GTEST_SKIP() << k_no_hwloc;
    }
    for (const unsigned packages : {1u, 2u, 4u, 8u}) {
        for (const unsigned pus : {1u, 2u}) {
            const std::string text = "pack:" + std::to_string(packages) +
                                     " [numa] l3:2 l2:2 core:1 pu:" + std::to_string(pus);
            const auto invented = machine::synthetic(text);
            ASSERT_TRUE(invented) << invented.reason();
            const machine from_files = fake::invent({packages, 1, 2, 2, pus});
            EXPECT_EQ(invented->pus, from_files.pus) << text;
            EXPECT_EQ(invented->cores, from_files.cores) << text;
            EXPECT_EQ(invented->caches.size(), from_files.caches.size()) << text;
            EXPECT_EQ(invented->numa_nodes.size(), packages) << text;
            EXPECT_EQ(invented->source, machine_source::synthetic);
            EXPECT_FALSE(invented->is_this_computer());
        }
    }
}

TEST(machine_synthetic, levels_may_be_missing) {
    if (hwloc_version().empty()) {
        GTEST_SKIP() << k_no_hwloc;
    }
    const machine flat = *machine::synthetic("pu:4");
    EXPECT_EQ(flat.cores.size(), 4u);
    EXPECT_EQ(flat.package_count(), 1u);
    EXPECT_EQ(flat.pus[3].l2, k_none);
    const machine example = *machine::synthetic("pack:2 l3:2 core:4 pu:2");
    EXPECT_EQ(example.pu_count(), 32u);
    EXPECT_EQ(example.cores.size(), 16u);
    EXPECT_EQ(example.numa_nodes.size(), 1u);
    EXPECT_EQ(example.pus.back().l3, 3u);
}

TEST(machine_synthetic, a_malformed_description_is_refused_with_its_text) {
    for (const char* const bad : {"bogus", "core:0", ""}) {
        const auto invented = machine::synthetic(bad);
        ASSERT_FALSE(invented) << bad;
        EXPECT_FALSE(invented.reason().empty());
    }
    if (!hwloc_version().empty()) {
        EXPECT_NE(machine::synthetic("bogus").reason().find("\"bogus\""), std::string::npos);
    }
}

TEST(machine_detect, finds_this_computer) {
    ::unsetenv("HWLOC_SYNTHETIC");
    const machine here = machine::detect();
    EXPECT_GE(here.pu_count(), 1u);
    EXPECT_GE(here.numa_nodes.size(), 1u);
    EXPECT_TRUE(here.is_this_computer());
    EXPECT_FALSE(here.description.empty());
    const machine copy = here;
    EXPECT_EQ(copy, here);
}

TEST(machine_detect, honours_the_environment_variable_or_says_why_not) {
    ::setenv("HWLOC_SYNTHETIC", "pack:3 core:2 pu:1", 1);
    if (hwloc_version().empty()) {
        EXPECT_THROW(machine::detect(), std::invalid_argument);
    } else {
        EXPECT_EQ(machine::detect().pu_count(), 6u);
        EXPECT_FALSE(machine::detect().is_this_computer());
        ::setenv("HWLOC_SYNTHETIC", "pack:none", 1);
        EXPECT_THROW(machine::detect(), std::invalid_argument);
    }
    ::unsetenv("HWLOC_SYNTHETIC");
}

}  // namespace
