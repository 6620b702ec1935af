// SPDX-License-Identifier: BSL-1.0
// Throttling and the limit of memory in control groups of version 1, version 2 and both.
#include "system_readings.hpp"

#include <cerrno>

namespace {

using quern_test::expect_none;
using quern_test::expect_value;
using quern_test::source_state;
using quern_test::sources;

constexpr const char* k_statistics_2 =
    "usage_usec 900\nuser_usec 600\nsystem_usec 300\nnr_periods 10\nnr_throttled 4\n"
    "throttled_usec 250\n";
constexpr const char* k_statistics_1 = "nr_periods 10\nnr_throttled 4\nthrottled_time 250000\n";
constexpr const char* k_not_counted = "usage_usec 900\nuser_usec 600\nsystem_usec 300\n";

/// Version 1 with the controllers that these sources need.
void mount_version_1(fake::tree& tree, const std::string& more_groups = "",
                     const std::string& more_mounts = "") {
    tree.file("/proc/self/cgroup", "3:cpu,cpuacct:/g\n2:memory:/g\n" + more_groups);
    tree.file("/proc/self/mountinfo",
              "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
              "33 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
                  more_mounts);
}

TEST(system_throttling, of_version_2_adds_all_levels) {
    fake::tree tree;
    tree.version_2("/a/b")
        .file("/sys/fs/cgroup/a/b/cpu.stat", k_statistics_2)
        .file("/sys/fs/cgroup/a/cpu.stat", "nr_periods 1\nnr_throttled 1\nthrottled_usec 50\n")
        .file("/sys/fs/cgroup/cpu.stat", k_not_counted);
    const sources all(tree.root());
    expect_value(all.read("/os/throttled/time"), 300'000);
    expect_value(all.read("/os/throttled/periods"), 5);
}

TEST(system_throttling, of_version_1_is_in_nanoseconds) {
    fake::tree tree;
    mount_version_1(tree);
    tree.file("/sys/fs/cgroup/cpu,cpuacct/g/cpu.stat", k_statistics_1)
        .file("/sys/fs/cgroup/cpu,cpuacct/cpu.stat",
              "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
    const sources all(tree.root());
    expect_value(all.read("/os/throttled/time"), 250'000);
    expect_value(all.read("/os/throttled/periods"), 4);
}

TEST(system_throttling, of_hybrid_mounts_is_where_the_controller_is) {
    fake::tree tree;
    mount_version_1(tree, "0::/\n",
                    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    tree.file("/sys/fs/cgroup/cpu,cpuacct/g/cpu.stat", k_statistics_1)
        .file("/sys/fs/cgroup/unified/cpu.stat", k_not_counted);
    expect_value(sources(tree.root()).read("/os/throttled/time"), 250'000);
}

TEST(system_throttling, is_absent_without_a_quota_anywhere) {
    fake::tree tree;
    tree.version_2("/a").file("/sys/fs/cgroup/a/cpu.stat", k_not_counted);
    expect_none(sources(tree.root()).read("/os/throttled/time"), source_state::absent,
                "no control group of this process has statistics of a CPU quota");
}

TEST(system_throttling, is_absent_without_control_groups) {
    const fake::tree tree;
    expect_none(sources(tree.root()).read("/os/throttled/periods"), source_state::absent,
                "/proc/self/cgroup: ENOENT");
}

TEST(system_throttling, of_a_level_that_is_refused_is_denied) {
    fake::tree tree;
    tree.version_2("/a/b")
        .file("/sys/fs/cgroup/a/b/cpu.stat", k_statistics_2)
        .file("/sys/fs/cgroup/a/cpu.stat", k_statistics_2);
    quern::topology::system_root root = tree.root();
    root.refuses = [](std::string_view path) {
        return path == "/sys/fs/cgroup/a/cpu.stat" ? EACCES : 0;
    };
    expect_none(sources(root).read("/os/throttled/time"), source_state::denied, "EACCES");
}

TEST(system_throttling, that_is_cut_is_malformed) {
    fake::tree tree;
    tree.version_2("/a").file("/sys/fs/cgroup/a/cpu.stat", "nr_periods 10\nnr_throttled 4\n");
    expect_none(sources(tree.root()).read("/os/throttled/time"), source_state::absent,
                "cpu.stat: malformed: no line \"throttled_usec\"");
}

TEST(system_memory_limit, is_the_tightest_of_all_levels) {
    fake::tree tree;
    tree.version_2("/a/b")
        .file("/sys/fs/cgroup/a/b/memory.max", "max\n")
        .file("/sys/fs/cgroup/a/b/memory.current", "100\n")
        .file("/sys/fs/cgroup/a/memory.max", "4096\n")
        .file("/sys/fs/cgroup/a/memory.current", "3000\n");
    const sources all(tree.root());
    expect_value(all.read("/os/memory-limit/max"), 4096);
    expect_value(all.read("/os/memory-limit/current"), 3000);
}

TEST(system_memory_limit, that_does_not_exist_is_absent_and_the_use_is_the_groups) {
    fake::tree tree;
    tree.version_2("/a/b")
        .file("/sys/fs/cgroup/a/b/memory.max", "max\n")
        .file("/sys/fs/cgroup/a/b/memory.current", "100\n")
        .file("/sys/fs/cgroup/a/memory.max", "max\n");
    const sources all(tree.root());
    expect_none(all.read("/os/memory-limit/max"), source_state::absent,
                "no control group limits memory");
    expect_value(all.read("/os/memory-limit/current"), 100);
}

TEST(system_memory_limit, of_version_1_has_a_number_that_means_none) {
    fake::tree tree;
    mount_version_1(tree);
    tree.file("/sys/fs/cgroup/memory/g/memory.limit_in_bytes", "9223372036854771712\n")
        .file("/sys/fs/cgroup/memory/g/memory.usage_in_bytes", "77\n");
    const sources none(tree.root());
    expect_none(none.read("/os/memory-limit/max"), source_state::absent, "no control group");
    expect_value(none.read("/os/memory-limit/current"), 77);
    tree.file("/sys/fs/cgroup/memory/g/memory.limit_in_bytes", "1000000\n");
    expect_value(sources(tree.root()).read("/os/memory-limit/max"), 1'000'000);
}

TEST(system_memory_limit, of_hybrid_mounts_is_where_the_controller_is) {
    fake::tree tree;
    mount_version_1(tree, "0::/\n",
                    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    tree.file("/sys/fs/cgroup/memory/g/memory.limit_in_bytes", "5000\n")
        .file("/sys/fs/cgroup/memory/g/memory.usage_in_bytes", "77\n");
    expect_value(sources(tree.root()).read("/os/memory-limit/max"), 5000);
}

TEST(system_memory_limit, that_is_no_number_is_malformed) {
    fake::tree tree;
    tree.version_2("/a")
        .file("/sys/fs/cgroup/a/memory.max", "much\n")
        .file("/sys/fs/cgroup/a/memory.current", "100\n");
    const sources all(tree.root());
    expect_none(all.read("/os/memory-limit/max"), source_state::absent,
                "malformed: expected bytes, found \"much\"");
}

}  // namespace
