// SPDX-License-Identifier: BSL-1.0
// A synthetic /proc and /sys in a temporary folder, for tests of the readers. Every tree is removed
// at the end of its test. Synthetic trees test parsing and joining, not any real computer.
#pragma once

#include <quern/topology/system_root.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace fake {

class tree {
public:
    tree() {
        // Thousands of tiny files: in a memory file system if there is one, because disks can be
        // slow.
        const char* const memory = "/dev/shm/";
        std::string name = ::access(memory, W_OK) == 0 ? memory : ::testing::TempDir();
        name += "quern-tree-XXXXXX";
        if (::mkdtemp(name.data()) == nullptr) {
            std::abort();
        }
        m_root.prefix = name;
    }
    ~tree() {
        std::error_code ignored;
        std::filesystem::remove_all(m_root.prefix, ignored);
    }
    tree(const tree&) = delete;
    tree& operator=(const tree&) = delete;

    const quern::topology::system_root& root() const { return m_root; }
    std::string path(std::string_view absolute) const { return m_root.resolve(absolute); }

    tree& file(std::string_view absolute, std::string_view content) {
        const std::filesystem::path target = path(absolute);
        std::filesystem::create_directories(target.parent_path());
        std::ofstream(target, std::ios::binary) << content;
        return *this;
    }

    /// A file that exists and cannot be opened, even by root: a link to itself.
    tree& unreadable(std::string_view absolute) {
        const std::filesystem::path target = path(absolute);
        std::filesystem::create_directories(target.parent_path());
        std::filesystem::create_symlink(target.filename(), target);
        return *this;
    }

    tree& affinity(std::string_view list) {
        return file("/proc/self/status", "Name:\ttest\nCpus_allowed:\tff\nCpus_allowed_list:\t" +
                                             std::string(list) + "\nMems_allowed_list:\t0\n");
    }

    /// Version 2 only, mounted as in a systemd system; the process is in `group`.
    tree& version_2(std::string_view group, std::string_view mount_root = "/") {
        file("/proc/self/cgroup", "0::" + std::string(group) + "\n");
        return file("/proc/self/mountinfo",
                    "22 1 0:20 / /proc rw,nosuid - proc proc rw\n"
                    "31 22 0:28 " +
                        std::string(mount_root) +
                        " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
    }

    /// Version 1 only, cpu and cpuacct together as on most systems.
    tree& version_1(std::string_view group, std::string_view mount_root = "/") {
        const std::string g(group);
        const std::string r(mount_root);
        file("/proc/self/cgroup", "4:cpuset:" + g + "\n3:cpu,cpuacct:" + g +
                                      "\n2:memory:/elsewhere\n1:name=systemd:/\n");
        return file("/proc/self/mountinfo",
                    "31 22 0:28 / /sys/fs/cgroup ro,nosuid shared:8 - tmpfs tmpfs ro,mode=755\n"
                    "32 31 0:29 " +
                        r +
                        " /sys/fs/cgroup/cpu,cpuacct rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n"
                        "33 31 0:30 " +
                        r + " /sys/fs/cgroup/cpuset rw,nosuid - cgroup cgroup rw,cpuset\n");
    }

    /// A version-1 folder of the cpu controller with a quota and a period in microseconds.
    tree& quota_1(std::string_view group, std::string_view quota, std::string_view period) {
        const std::string folder = "/sys/fs/cgroup/cpu,cpuacct" + std::string(group);
        file(folder + "/cpu.cfs_period_us", std::string(period) + "\n");
        return file(folder + "/cpu.cfs_quota_us", std::string(quota) + "\n");
    }

private:
    quern::topology::system_root m_root;
};

}  // namespace fake
