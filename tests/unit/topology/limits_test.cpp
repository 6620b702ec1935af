// SPDX-License-Identifier: BSL-1.0
// Cpuset, affinity mask, and the choice of the smallest limit; with the number of workers and the
// sentence about it.
#include "fake_tree.hpp"

#include <quern/topology/limits.hpp>
#include <quern/topology/machine.hpp>
#include <quern/topology/workers.hpp>

#include <utility>

namespace {

using quern::topology::choose_workers;
using quern::topology::cpu_limits;
using quern::topology::cpu_list;
using quern::topology::limit_kind;
using quern::topology::machine;
using quern::topology::read_cpu_limits;
using quern::topology::worker_choice;

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

/// As many processing units as requested, in a synthetic /sys.
machine flat_machine(const std::string& online) {
    fake::tree tree;
    tree.file("/sys/devices/system/cpu/online", online);
    return machine::from_sysfs(tree.root());
}

TEST(cpuset, version_2_takes_the_nearest_folder_that_has_the_file) {
    fake::tree tree;
    tree.version_2("/a/b/c")
        .file("/sys/fs/cgroup/a/cpuset.cpus.effective", "0-7")
        .file("/sys/fs/cgroup/a/b/cpuset.cpus.effective", "4-6\n");
    const cpu_limits limits = read_cpu_limits(tree.root());
    ASSERT_TRUE(limits.cpuset) << limits.cpuset.reason();
    EXPECT_EQ(limits.cpuset->cpus, (cpu_list{4, 5, 6}));
    EXPECT_EQ(limits.cpuset->file, tree.path("/sys/fs/cgroup/a/b/cpuset.cpus.effective"));
}

TEST(cpuset, version_1_prefers_the_effective_set_and_accepts_the_configured_one) {
    fake::tree tree;
    tree.version_1("/a").file("/sys/fs/cgroup/cpuset/a/cpuset.cpus", "0-3\n");
    EXPECT_EQ(read_cpu_limits(tree.root()).cpuset->cpus, (cpu_list{0, 1, 2, 3}));
    tree.file("/sys/fs/cgroup/cpuset/a/cpuset.effective_cpus", "1,3\n");
    EXPECT_EQ(read_cpu_limits(tree.root()).cpuset->cpus, (cpu_list{1, 3}));
}

TEST(cpuset, an_empty_or_malformed_set_falls_back_to_the_parent) {
    fake::tree tree;
    tree.version_1("/a/b").file("/sys/fs/cgroup/cpuset/a/b/cpuset.cpus", "\n");
    tree.file("/sys/fs/cgroup/cpuset/a/cpuset.cpus", "3-1")
        .file("/sys/fs/cgroup/cpuset/cpuset.cpus", "0-1");
    const cpu_limits limits = read_cpu_limits(tree.root());
    EXPECT_EQ(limits.cpuset->cpus, (cpu_list{0, 1}));
    ASSERT_EQ(limits.notes.size(), 1u);
    EXPECT_TRUE(contains(limits.notes[0], tree.path("/sys/fs/cgroup/cpuset/a/cpuset.cpus")));
    EXPECT_TRUE(contains(limits.notes[0], "\"3-1\""));
}

TEST(cpuset, of_a_hybrid_the_smaller_set_counts) {
    for (const auto& [one, two] : {std::pair("0-3", "2"), std::pair("2", "0-3")}) {
        fake::tree tree;
        tree.file("/proc/self/cgroup", "3:cpuset:/a\n0::/a\n")
            .file("/proc/self/mountinfo",
                  "41 31 0:38 / /two rw - cgroup2 cgroup2 rw\n"
                  "32 31 0:29 / /one rw - cgroup cgroup rw,cpuset\n")
            .file("/one/a/cpuset.cpus", one)
            .file("/two/a/cpuset.cpus.effective", two);
        EXPECT_EQ(read_cpu_limits(tree.root()).cpuset->cpus, cpu_list{2});
    }
}

TEST(cpuset, the_nearest_folder_decides_also_when_a_parent_says_less) {
    fake::tree tree;
    tree.version_1("/a").file("/sys/fs/cgroup/cpuset/a/cpuset.effective_cpus", "0-3");
    tree.file("/sys/fs/cgroup/cpuset/cpuset.effective_cpus", "0");
    EXPECT_EQ(read_cpu_limits(tree.root()).cpuset->cpus.size(), 4u);
}

TEST(affinity, below_another_root_it_comes_from_the_status_file) {
    fake::tree tree;
    tree.affinity("0-2,5");
    EXPECT_EQ(*read_cpu_limits(tree.root()).affinity, (cpu_list{0, 1, 2, 5}));
    tree.affinity("what");
    const cpu_limits limits = read_cpu_limits(tree.root());
    EXPECT_FALSE(limits.affinity);
    EXPECT_EQ(limits.notes.size(), 1u);
    tree.file("/proc/self/status", "Name:\tx\n");
    EXPECT_TRUE(contains(read_cpu_limits(tree.root()).affinity.reason(), "Cpus_allowed_list"));
}

TEST(affinity, this_process_has_one) {
    const cpu_limits limits = read_cpu_limits();
    ASSERT_TRUE(limits.affinity) << limits.affinity.reason();
    EXPECT_FALSE(limits.affinity->empty());
    EXPECT_GE(limits.effective_cpus(machine::detect().pu_count()), 1u);
}

/// mask 6 CPUs, cpuset 4, the given quota, on 8 processing units.
cpu_limits limits_with(fake::tree& tree, std::string_view quota) {
    tree.version_2("/a").affinity("0-5").file("/sys/fs/cgroup/a/cpuset.cpus.effective", "2-5");
    tree.file("/sys/fs/cgroup/a/cpu.max", quota);
    return read_cpu_limits(tree.root());
}

TEST(effective_cpus, the_smallest_limit_decides_and_is_named) {
    fake::tree tree;
    EXPECT_EQ(limits_with(tree, "200000 100000").effective_cpus(8), 2u);
    EXPECT_EQ(limits_with(tree, "200000 100000").tightest(8), limit_kind::quota);
    EXPECT_EQ(limits_with(tree, "max 100000").effective_cpus(8), 4u);
    EXPECT_EQ(limits_with(tree, "max 100000").tightest(8), limit_kind::cpuset);
    EXPECT_EQ(limits_with(tree, "900000 100000").effective_cpus(3), 3u);
    EXPECT_EQ(limits_with(tree, "900000 100000").tightest(3), limit_kind::machine);
    EXPECT_EQ(limits_with(tree, "10000 100000").effective_cpus(8), 1u);
    tree.affinity("2,3,4");
    tree.file("/sys/fs/cgroup/a/cpu.max", "max");
    EXPECT_EQ(read_cpu_limits(tree.root()).effective_cpus(8), 3u);
    EXPECT_EQ(read_cpu_limits(tree.root()).tightest(8), limit_kind::affinity);
}

TEST(effective_cpus, of_equal_limits_the_outermost_is_named) {
    fake::tree tree;
    EXPECT_EQ(limits_with(tree, "400000 100000").tightest(8), limit_kind::cpuset);
    EXPECT_EQ(limits_with(tree, "400000 100000").tightest(4), limit_kind::machine);
}

TEST(choose_workers_sentence, names_the_deciding_limit_first_and_its_file) {
    fake::tree tree;
    const worker_choice choice =
        choose_workers(flat_machine("0-7"), limits_with(tree, "150000 100000"));
    EXPECT_EQ(choice.count, 2u);
    EXPECT_EQ(choice.decided_by, limit_kind::quota);
    EXPECT_FALSE(choice.requested);
    EXPECT_EQ(
        choice.why,
        "2 workers: the cgroup quota grants 1.5 CPUs (" + tree.path("/sys/fs/cgroup/a/cpu.max") +
            "), rounded up to 2; the machine has 8 processing units, the cpuset allows 4 CPUs (" +
            tree.path("/sys/fs/cgroup/a/cpuset.cpus.effective") +
            "), the affinity mask allows 6 CPUs");
}

TEST(choose_workers_sentence, half_a_cpu_is_one_worker) {
    fake::tree tree;
    const worker_choice choice =
        choose_workers(flat_machine("0-7"), limits_with(tree, "50000 100000"));
    EXPECT_EQ(choice.count, 1u);
    EXPECT_TRUE(choice.why.starts_with("1 worker: the cgroup quota grants 0.5 CPUs")) << choice.why;
}

TEST(choose_workers_sentence, a_request_wins_and_is_compared) {
    fake::tree tree;
    const cpu_limits limits = limits_with(tree, "max");
    const worker_choice more = choose_workers(flat_machine("0-7"), limits, 16);
    EXPECT_EQ(more.count, 16u);
    EXPECT_TRUE(more.requested);
    EXPECT_TRUE(more.why.starts_with("16 workers: as requested, more than the 4 CPUs")) << more.why;
    EXPECT_TRUE(
        contains(choose_workers(flat_machine("0-7"), limits, 1).why, "fewer than the 4 CPUs"));
    EXPECT_TRUE(
        contains(choose_workers(flat_machine("0-7"), limits, 4).why, "as many as the 4 CPUs"));
    EXPECT_EQ(choose_workers(flat_machine("0-7"), limits, 0).count, 4u);
    EXPECT_FALSE(choose_workers(flat_machine("0-7"), limits, 0).requested);
}

TEST(choose_workers_sentence, what_is_unknown_is_said_to_be_unknown) {
    fake::tree tree;
    const worker_choice choice = choose_workers(flat_machine("0-2"), read_cpu_limits(tree.root()));
    EXPECT_EQ(choice.count, 3u);
    EXPECT_EQ(choice.why,
              "3 workers: the machine has 3 processing units; cpuset unknown, affinity mask "
              "unknown, cgroup "
              "quota unknown");
}

TEST(choose_workers_sentence, a_synthetic_machine_is_not_limited_by_this_computer) {
    machine invented = flat_machine("0-63");
    invented.source = quern::topology::machine_source::synthetic;
    const worker_choice choice = choose_workers(invented, read_cpu_limits());
    EXPECT_EQ(choice.count, 64u);
    EXPECT_TRUE(contains(choice.why, "synthetic")) << choice.why;
}

}  // namespace
