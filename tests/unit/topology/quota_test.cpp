// SPDX-License-Identifier: BSL-1.0
// The cgroup CPU quota in version 1, version 2 and hybrid trees: which level applies, and that
// every file content is tolerated.
#include "fake_tree.hpp"

#include <quern/topology/limits.hpp>

namespace {

using quern::topology::cpu_limits;
using quern::topology::read_cpu_limits;

TEST(quota_version_2, reads_the_group_of_the_process) {
    fake::tree tree;
    tree.version_2("/app").file("/sys/fs/cgroup/app/cpu.max", "400000 100000\n");
    const cpu_limits limits = read_cpu_limits(tree.root());
    ASSERT_TRUE(limits.quota) << limits.quota.reason();
    EXPECT_EQ(limits.quota->whole_cpus(), 4u);
    EXPECT_DOUBLE_EQ(limits.quota->cpus(), 4.0);
    EXPECT_EQ(limits.quota->file, tree.path("/sys/fs/cgroup/app/cpu.max"));
    EXPECT_TRUE(limits.notes.empty());
}

TEST(quota_version_2, the_tightest_ancestor_decides_wherever_it_is) {
    const char* const levels[] = {"/sys/fs/cgroup/a/cpu.max", "/sys/fs/cgroup/a/b/cpu.max",
                                  "/sys/fs/cgroup/a/b/c/cpu.max"};
    for (const char* const tight : levels) {
        fake::tree tree;
        tree.version_2("/a/b/c");
        for (const char* const level : levels) {
            tree.file(level, level == tight ? "200000 100000\n" : "800000 100000\n");
        }
        const cpu_limits limits = read_cpu_limits(tree.root());
        ASSERT_TRUE(limits.quota);
        EXPECT_EQ(limits.quota->whole_cpus(), 2u);
        EXPECT_EQ(limits.quota->file, tree.path(tight));
    }
}

TEST(quota_version_2, a_missing_level_is_passed_over) {
    fake::tree tree;
    tree.version_2("/a/b/c").file("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
    EXPECT_EQ(read_cpu_limits(tree.root()).quota->whole_cpus(), 3u);
}

TEST(quota_version_2, max_is_no_limit_and_names_the_nearest_file) {
    fake::tree tree;
    tree.version_2("/a/b")
        .file("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n")
        .file("/sys/fs/cgroup/a/cpu.max", "max 50000\n");
    const cpu_limits limits = read_cpu_limits(tree.root());
    ASSERT_TRUE(limits.quota);
    EXPECT_TRUE(limits.quota->unlimited());
    EXPECT_EQ(limits.quota->file, tree.path("/sys/fs/cgroup/a/b/cpu.max"));
    EXPECT_EQ(limits.effective_cpus(8), 8u);
}

TEST(quota_version_2, max_below_a_limited_parent_is_limited) {
    fake::tree tree;
    tree.version_2("/a/b")
        .file("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n")
        .file("/sys/fs/cgroup/a/cpu.max", "50000 50000");
    EXPECT_EQ(read_cpu_limits(tree.root()).quota->whole_cpus(), 1u);
}

TEST(quota_version_2, fractions_are_rounded_up_and_never_to_nothing) {
    struct sample {
        const char* content;
        unsigned whole;
        double exact;
    };
    for (const sample& s : {sample{"50000 100000", 1, 0.5}, sample{"1000 100000", 1, 0.01},
                            sample{"150000 100000", 2, 1.5}, sample{"100001 100000", 2, 1.00001},
                            sample{"200000 100000", 2, 2.0}, sample{"17500 7000", 3, 2.5},
                            sample{"1000000 333333", 4, 3.000003}, sample{"250000", 3, 2.5},
                            sample{"99999999999999 1", 65535, 99999999999999.0}}) {
        fake::tree tree;
        tree.version_2("/a").file("/sys/fs/cgroup/a/cpu.max", s.content);
        const cpu_limits limits = read_cpu_limits(tree.root());
        ASSERT_TRUE(limits.quota) << s.content;
        EXPECT_EQ(limits.quota->whole_cpus(), s.whole) << s.content;
        EXPECT_NEAR(limits.quota->cpus(), s.exact, 1e-5) << s.content;
        EXPECT_TRUE(limits.notes.empty()) << s.content;
    }
}

TEST(quota_version_2, odd_periods_are_compared_as_ratios) {
    fake::tree tree;
    tree.version_2("/a/b")
        .file("/sys/fs/cgroup/a/b/cpu.max", "300000 70000")
        .file("/sys/fs/cgroup/a/cpu.max", "400000 100000");
    const cpu_limits limits = read_cpu_limits(tree.root());
    EXPECT_EQ(limits.quota->quota_us, 400000u);
    EXPECT_EQ(limits.quota->whole_cpus(), 4u);
}

TEST(quota_version_2, a_malformed_file_is_a_note_with_file_and_text_and_does_not_count) {
    for (const std::string bad :
         {"", " ", "x", "0 100000", "-5 100000", "100000 0", "max max", "1e5 100000", "1.5 100000",
          "100000 100000 7", "100000,100000", "99999999999999999999999 100000", "max x"}) {
        fake::tree tree;
        tree.version_2("/a/b")
            .file("/sys/fs/cgroup/a/b/cpu.max", bad)
            .file("/sys/fs/cgroup/a/cpu.max", "200000 100000");
        const cpu_limits limits = read_cpu_limits(tree.root());
        ASSERT_TRUE(limits.quota) << bad;
        EXPECT_EQ(limits.quota->whole_cpus(), 2u) << bad;
        ASSERT_EQ(limits.notes.size(), 1u) << bad;
        EXPECT_NE(limits.notes[0].find(tree.path("/sys/fs/cgroup/a/b/cpu.max")), std::string::npos);
        EXPECT_NE(limits.notes[0].find("found \""), std::string::npos) << limits.notes[0];
    }
}

TEST(quota_version_2, binary_content_is_shown_without_its_control_characters) {
    fake::tree tree;
    tree.version_2("/a").file("/sys/fs/cgroup/a/cpu.max",
                              std::string("\x1b[31m\0\xff", 7) + std::string(100000, 'z'));
    const cpu_limits limits = read_cpu_limits(tree.root());
    EXPECT_FALSE(limits.quota);
    ASSERT_EQ(limits.notes.size(), 1u);
    EXPECT_EQ(limits.notes[0].find('\x1b'), std::string::npos);
    EXPECT_LT(limits.notes[0].size(), tree.root().prefix.size() + 200);
}

TEST(quota_version_2, unreadable_levels_are_passed_over) {
    fake::tree tree;
    tree.version_2("/a/b")
        .unreadable("/sys/fs/cgroup/a/b/cpu.max")
        .file("/sys/fs/cgroup/a/cpu.max", "100000 100000");
    EXPECT_EQ(read_cpu_limits(tree.root()).quota->whole_cpus(), 1u);
}

TEST(quota_version_2, no_file_at_all_is_unavailable_with_a_reason) {
    fake::tree tree;
    tree.version_2("/a/b");
    const cpu_limits limits = read_cpu_limits(tree.root());
    ASSERT_FALSE(limits.quota);
    EXPECT_FALSE(limits.quota.reason().empty());
    EXPECT_EQ(limits.effective_cpus(6), 6u);
}

TEST(quota_version_2, a_namespaced_group_is_read_at_the_mount_point) {
    fake::tree tree;
    tree.version_2("/").file("/sys/fs/cgroup/cpu.max", "200000 100000");
    EXPECT_EQ(read_cpu_limits(tree.root()).quota->whole_cpus(), 2u);
}

TEST(quota_version_2, a_mount_of_part_of_the_hierarchy_is_joined_with_the_group) {
    fake::tree tree;
    tree.version_2("/pod/7/app", "/pod/7")
        .file("/sys/fs/cgroup/app/cpu.max", "max")
        .file("/sys/fs/cgroup/cpu.max", "200000 100000");
    EXPECT_EQ(read_cpu_limits(tree.root()).quota->whole_cpus(), 2u);
}

TEST(quota_version_2, a_group_outside_of_the_mount_falls_back_to_the_mount_point_with_a_note) {
    for (const char* const group : {"/pod/78", "/../other", "/"}) {
        fake::tree tree;
        tree.version_2(group, "/pod/7").file("/sys/fs/cgroup/cpu.max", "200000 100000");
        const cpu_limits limits = read_cpu_limits(tree.root());
        ASSERT_TRUE(limits.quota) << group;
        EXPECT_EQ(limits.quota->whole_cpus(), 2u);
        ASSERT_EQ(limits.notes.size(), 1u);
        EXPECT_NE(limits.notes[0].find(group), std::string::npos);
    }
}

TEST(quota_version_2, a_group_above_its_namespace_is_not_looked_for_in_other_folders) {
    fake::tree tree;
    tree.version_2("/../other").file("/sys/fs/cgroup/cpu.max", "200000 100000");
    tree.file("/sys/fs/other/cpu.max", "100000 100000");
    EXPECT_EQ(read_cpu_limits(tree.root()).quota->whole_cpus(), 2u);
}

TEST(quota_version_2, of_several_mounts_the_one_that_shows_most_ancestors_is_read) {
    const std::string narrow = "31 22 0:28 /pod/7 /narrow rw - cgroup2 cgroup2 rw\n";
    const std::string wide = "32 22 0:28 / /wide rw - cgroup2 cgroup2 rw\n";
    for (const std::string& mounts : {narrow + wide, wide + narrow}) {
        fake::tree tree;
        tree.file("/proc/self/cgroup", "0::/pod/7\n").file("/proc/self/mountinfo", mounts);
        tree.file("/narrow/cpu.max", "400000 100000").file("/wide/pod/7/cpu.max", "400000 100000");
        tree.file("/wide/pod/cpu.max", "200000 100000");
        EXPECT_EQ(read_cpu_limits(tree.root()).quota->whole_cpus(), 2u);
    }
}

TEST(quota_version_2, escaped_blanks_in_mount_points_are_understood) {
    fake::tree tree;
    tree.file("/proc/self/cgroup", "0::/app\n")
        .file("/proc/self/mountinfo", "31 22 0:28 / /odd\\040place rw - cgroup2 cgroup2 rw\n")
        .file("/odd place/app/cpu.max", "200000 100000");
    EXPECT_EQ(read_cpu_limits(tree.root()).quota->whole_cpus(), 2u);
}

TEST(quota_version_1, reads_quota_and_period_and_all_ancestors) {
    fake::tree tree;
    tree.version_1("/a/b")
        .quota_1("/a/b", "800000", "100000")
        .quota_1("/a", "150000", "50000")
        .quota_1("", "-1", "100000");
    const cpu_limits limits = read_cpu_limits(tree.root());
    ASSERT_TRUE(limits.quota) << limits.quota.reason();
    EXPECT_EQ(limits.quota->whole_cpus(), 3u);
    EXPECT_EQ(limits.quota->file, tree.path("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us"));
    EXPECT_TRUE(limits.notes.empty());
}

TEST(quota_version_1, minus_one_is_no_limit) {
    fake::tree tree;
    tree.version_1("/a").quota_1("/a", "-1", "100000").quota_1("", "-1", "100000");
    const cpu_limits limits = read_cpu_limits(tree.root());
    ASSERT_TRUE(limits.quota);
    EXPECT_TRUE(limits.quota->unlimited());
}

TEST(quota_version_1, a_container_sees_its_own_group_at_the_mount_point) {
    fake::tree tree;
    tree.version_1("/docker/7", "/docker/7").quota_1("", "250000", "100000");
    EXPECT_EQ(read_cpu_limits(tree.root()).quota->whole_cpus(), 3u);
}

TEST(quota_version_1, malformed_quota_and_period_are_notes) {
    const char* const bad[][2] = {{"-2", "100000"},  {"", "100000"},  {"x", "100000"},
                                  {"0", "100000"},   {"100000", "0"}, {"100000", "-1"},
                                  {"100000", "soon"}};
    for (const auto& [quota, period] : bad) {
        fake::tree tree;
        tree.version_1("/a").quota_1("/a", quota, period).quota_1("", "200000", "100000");
        const cpu_limits limits = read_cpu_limits(tree.root());
        ASSERT_TRUE(limits.quota);
        EXPECT_EQ(limits.quota->whole_cpus(), 2u);
        EXPECT_EQ(limits.notes.size(), 1u) << quota << " / " << period;
    }
}

TEST(quota_version_1, a_quota_without_a_period_is_noted) {
    fake::tree tree;
    tree.version_1("/a").file("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "200000");
    const cpu_limits limits = read_cpu_limits(tree.root());
    EXPECT_FALSE(limits.quota);
    ASSERT_EQ(limits.notes.size(), 1u);
    EXPECT_NE(limits.notes[0].find("ENOENT"), std::string::npos);
}

/// The cpu controller in version 1, a version-2 mount beside it without controllers: as systemd's
/// hybrid mode does.
void make_hybrid(fake::tree& tree) {
    tree.file("/proc/self/cgroup",
              "3:cpuset:/\n2:cpu,cpuacct:/box\n1:name=systemd:/box\n0::/box/unit\n")
        .file("/proc/self/mountinfo",
              "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
              "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpuacct,cpu\n");
}

TEST(quota_hybrid, the_version_1_quota_is_found_beside_an_empty_version_2_mount) {
    fake::tree tree;
    make_hybrid(tree);
    tree.quota_1("/box", "200000", "100000")
        .file("/sys/fs/cgroup/unified/box/unit/cpu.pressure", "");
    EXPECT_EQ(read_cpu_limits(tree.root()).quota->whole_cpus(), 2u);
}

TEST(quota_hybrid, the_tighter_of_both_versions_decides) {
    fake::tree tree;
    make_hybrid(tree);
    tree.quota_1("/box", "400000", "100000")
        .file("/sys/fs/cgroup/unified/box/cpu.max", "300000 100000");
    EXPECT_EQ(read_cpu_limits(tree.root()).quota->whole_cpus(), 3u);
}

TEST(quota_hybrid, without_a_limit_the_version_2_file_is_named) {
    fake::tree tree;
    make_hybrid(tree);
    tree.quota_1("/box", "-1", "100000").file("/sys/fs/cgroup/unified/box/cpu.max", "max 100000");
    EXPECT_EQ(read_cpu_limits(tree.root()).quota->file,
              tree.path("/sys/fs/cgroup/unified/box/cpu.max"));
}

TEST(quota_files, missing_proc_files_are_a_reason_with_the_path) {
    fake::tree tree;
    const cpu_limits nothing = read_cpu_limits(tree.root());
    ASSERT_FALSE(nothing.quota);
    EXPECT_EQ(nothing.quota.reason(),
              tree.path("/proc/self/cgroup") + ": ENOENT (No such file or directory)");
    ASSERT_FALSE(nothing.cpuset);
    ASSERT_FALSE(nothing.affinity);
    EXPECT_EQ(nothing.effective_cpus(5), 5u);
    EXPECT_EQ(nothing.effective_cpus(0), 1u);

    tree.file("/proc/self/cgroup", "0::/a\n");
    EXPECT_EQ(read_cpu_limits(tree.root()).quota.reason(),
              tree.path("/proc/self/mountinfo") + ": ENOENT (No such file or directory)");
    tree.file("/proc/self/mountinfo", "");
    EXPECT_NE(read_cpu_limits(tree.root()).quota.reason().find("is mounted"), std::string::npos);
}

TEST(quota_files, malformed_lines_are_noted_once_and_the_others_used) {
    fake::tree tree;
    tree.version_2("/a").file("/sys/fs/cgroup/a/cpu.max", "200000 100000");
    tree.file("/proc/self/cgroup", "garbage\n7:cpu\n0::relative\n\n0::/a\n");
    tree.file("/proc/self/mountinfo",
              "cgroup\n- cgroup2\n31 22 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    const cpu_limits limits = read_cpu_limits(tree.root());
    ASSERT_TRUE(limits.quota);
    EXPECT_EQ(limits.quota->whole_cpus(), 2u);
    EXPECT_EQ(limits.notes.size(), 5u);
}

}  // namespace
