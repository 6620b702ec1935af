// SPDX-License-Identifier: BSL-1.0
// The sources that are files, on synthetic systems: the process's memory, input and output, the
// machine's times and pressure. A missing, refused, truncated or invalid file gives a reason and
// never a number.
#include "system_readings.hpp"

#include <unistd.h>

#include <cerrno>
#include <set>

namespace {

using quern_test::expect_none;
using quern_test::expect_value;
using quern_test::source_state;
using quern_test::sources;

constexpr const char* k_io =
    "rchar: 6976\nwchar: 12\nsyscr: 10\nsyscw: 3\nread_bytes: 4096\nwrite_bytes: 8192\n"
    "cancelled_write_bytes: 1024\n";

const double k_tick_ns = 1e9 / static_cast<double>(::sysconf(_SC_CLK_TCK));

TEST(system_process, memory_is_counted_in_bytes) {
    fake::tree tree;
    tree.file("/proc/self/statm", "765 442 414 5 0 123 0\n")
        .file("/proc/meminfo", "MemTotal: 1000 kB\nMemFree: 300 kB\nMemAvailable:     500 kB\n");
    const sources all(tree.root());
    const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
    expect_value(all.read("/runtime/memory/virtual"), 765 * page);
    expect_value(all.read("/runtime/memory/resident"), 442 * page);
    expect_value(all.read("/runtime/memory/total"), 500 * 1024);
}

TEST(system_process, input_and_output_have_the_names_of_hpx) {
    fake::tree tree;
    tree.file("/proc/self/io", k_io);
    const sources all(tree.root());
    expect_value(all.read("/runtime/io/read_bytes_issued"), 6976);
    expect_value(all.read("/runtime/io/write_bytes_issued"), 12);
    expect_value(all.read("/runtime/io/read_syscalls"), 10);
    expect_value(all.read("/runtime/io/write_syscalls"), 3);
    expect_value(all.read("/runtime/io/read_bytes_transferred"), 4096);
    expect_value(all.read("/runtime/io/write_bytes_transferred"), 8192);
    expect_value(all.read("/runtime/io/write_bytes_cancelled"), 1024);
}

TEST(system_process, a_missing_file_is_absent_and_named) {
    const fake::tree tree;
    expect_none(sources(tree.root()).read("/runtime/io/read_syscalls"), source_state::absent,
                tree.path("/proc/self/io") + ": ENOENT");
}

TEST(system_process, a_refused_file_is_denied) {
    fake::tree tree;
    tree.file("/proc/self/io", k_io);
    quern::topology::system_root root = tree.root();
    root.refuses = [](std::string_view path) { return path == "/proc/self/io" ? EACCES : 0; };
    expect_none(sources(root).read("/runtime/io/read_syscalls"), source_state::denied,
                "EACCES (Permission denied)");
}

TEST(system_process, a_short_file_has_what_it_has) {
    fake::tree tree;
    tree.file("/proc/self/io", "rchar: 6976\nwchar: 12\nsyscr:").file("/proc/self/statm", "765");
    const sources all(tree.root());
    expect_value(all.read("/runtime/io/write_bytes_issued"), 12);
    expect_none(all.read("/runtime/io/read_syscalls"), source_state::absent,
                "malformed: expected a number after \"syscr:\", found \"\"");
    expect_none(all.read("/runtime/io/write_syscalls"), source_state::absent, "no line \"syscw:\"");
    expect_none(all.read("/runtime/memory/resident"), source_state::absent,
                "malformed: expected 2 numbers, found \"765\"");
}

TEST(system_process, nonsense_is_malformed_in_every_source) {
    for (const char* const nonsense :
         {"", "\n", " ", ":", "rchar", "rchar: -1", "cpu", "cpu  a b c d", "cpu a 2 3",
          "some total=", "some total=x", "full", "\xff\xfe\n\n\n", "99999999999999999999999"}) {
        fake::tree tree;
        tree.version_2("/a");
        for (const char* const path :
             {"/proc/self/io", "/proc/self/statm", "/proc/meminfo", "/proc/stat",
              "/proc/pressure/cpu", "/proc/pressure/memory", "/proc/pressure/io",
              "/sys/fs/cgroup/a/cpu.stat", "/sys/fs/cgroup/a/memory.max"}) {
            tree.file(path, nonsense);
        }
        const sources all(tree.root());
        for (const auto& one : all.all()) {
            if (one->has_workers()) {
                continue;
            }
            const auto readings = one->read({});
            ASSERT_EQ(readings.size(), one->counters().size());
            for (std::size_t i = 0; i < readings.size(); ++i) {
                EXPECT_EQ(readings[i].state, source_state::absent)
                    << one->counters()[i].name << " of " << nonsense;
                EXPECT_FALSE(readings[i].why.empty()) << one->counters()[i].name;
            }
        }
    }
}

TEST(system_process, what_only_the_kernel_says_is_absent_below_another_root) {
    const fake::tree tree;
    expect_none(sources(tree.root()).read("/os/cpu-time/user"), source_state::absent, "getrusage");
}

TEST(system_process, the_whole_process_has_no_parts) {
    fake::tree tree;
    tree.file("/proc/self/io", k_io);
    quern_test::place where;
    where.worker = 0;
    const sources all(tree.root());
    for (const char* const name : {"/runtime/io/read_syscalls", "/os/cpu-time/user"}) {
        EXPECT_FALSE(all.of(name).has_workers());
        expect_none(all.read(name, where), source_state::absent, "for the whole process");
    }
}

TEST(system_process, every_counter_is_described_and_named_once) {
    std::set<std::string> names;
    const sources all;
    for (const auto& one : all.all()) {
        for (const auto& info : one->counters()) {
            EXPECT_TRUE(names.insert(info.name).second) << info.name;
            EXPECT_FALSE(info.help.empty()) << info.name;
        }
    }
    EXPECT_GE(names.size(), 29u);
}

TEST(system_machine, steal_time_is_a_time_and_a_share) {
    fake::tree tree;
    tree.file("/proc/stat",
              "cpu  100 0 20 300 4 0 6 70 50 50\ncpu0 100 0 20 300 4 0 6 70 50 50\nintr 5\n");
    const sources all(tree.root());
    expect_value(all.read("/os/steal-time"), 70 * k_tick_ns);
    expect_value(all.read("/os/total-time"), 500 * k_tick_ns);  // guests are in user
    const auto rate = all.read("/os/steal-rate");
    expect_value(rate, 70 * k_tick_ns);
    EXPECT_DOUBLE_EQ(rate.below, 500 * k_tick_ns);
}

TEST(system_machine, a_kernel_without_steal_time_has_a_total) {
    fake::tree tree;
    tree.file("/proc/stat", "cpu  100 0 20 300 4 0 6\n");
    const sources all(tree.root());
    expect_none(all.read("/os/steal-time"), source_state::absent,
                "this kernel does not count steal time");
    expect_none(all.read("/os/steal-rate"), source_state::absent, "steal");
    expect_value(all.read("/os/total-time"), 430 * k_tick_ns);
}

TEST(system_machine, too_few_times_are_malformed) {
    fake::tree tree;
    tree.file("/proc/stat", "cpu  100 0 20");
    expect_none(sources(tree.root()).read("/os/total-time"), source_state::absent,
                "/proc/stat: malformed: expected the times of all processors, found \"cpu");
}

TEST(system_machine, pressure_is_the_total) {
    fake::tree tree;
    tree.file("/proc/pressure/memory",
              "some avg10=1.50 avg60=24.27 avg300=19.79 total=135887384\n"
              "full avg10=0.00 avg60=0.00 avg300=0.00 total=42\n");
    const sources all(tree.root());
    expect_value(all.read("/os/pressure/memory/some"), 135887384);
    expect_value(all.read("/os/pressure/memory/full"), 42);
}

TEST(system_machine, an_older_kernel_has_no_full_pressure_of_processors) {
    fake::tree tree;
    tree.file("/proc/pressure/cpu", "some avg10=1.50 avg60=24.27 avg300=19.79 total=7\n");
    const sources all(tree.root());
    expect_value(all.read("/os/pressure/cpu/some"), 7);
    expect_none(all.read("/os/pressure/cpu/full"), source_state::absent, "no line \"full\"");
}

TEST(system_machine, a_newer_kernel_shows_a_full_pressure_of_processors_that_it_does_not_measure) {
    fake::tree tree;
    const std::string some = "some avg10=1.50 avg60=24.27 avg300=19.79 total=7\n";
    tree.file("/proc/pressure/cpu", some + "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
    expect_none(sources(tree.root()).read("/os/pressure/cpu/full"), source_state::absent,
                "/proc/pressure/cpu: the kernel measures no full pressure");
    tree.file("/proc/pressure/cpu", some + "full avg10=0.00 avg60=0.00 avg300=0.00 total=3\n");
    expect_value(sources(tree.root()).read("/os/pressure/cpu/full"), 3);
}

TEST(system_machine, pressure_that_is_switched_off_is_absent) {
    fake::tree tree;
    quern::topology::system_root root = tree.root();
    root.refuses = [](std::string_view path) {
        return path.starts_with("/proc/pressure") ? EOPNOTSUPP : 0;
    };
    expect_none(sources(root).read("/os/pressure/io/some"), source_state::absent,
                "/proc/pressure/io: EOPNOTSUPP");
}

}  // namespace
