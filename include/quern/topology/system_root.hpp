// SPDX-License-Identifier: BSL-1.0
// The root of /proc and /sys. Every reader of system files in Quern takes a system_root, so that a
// test, or `quern info --root`, can present a synthetic machine in a temporary folder. Must never
// write, and must survive any file content.
#pragma once

#include <quern/topology/outcome.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace quern::topology {

struct system_root {
    std::string prefix = "/";

    /// For tests, which often run as root: the errno value with which opening this absolute path
    /// fails, or 0. Null outside of tests.
    int (*refuses)(std::string_view absolute) = nullptr;

    /// Whether this is the process's own machine, so that system calls may be used as well as
    /// files.
    bool real() const noexcept { return prefix.empty() || prefix == "/"; }

    /// The path to open for an absolute path of the system, such as "/proc/self/cgroup".
    std::string resolve(std::string_view absolute) const;
};

/// A whole small text file, at most 4 MiB of it. The reason names the file and the error ("… :
/// ENOENT (No such file or directory)"). Files of /proc and /sys are read in as few reads as
/// possible. Thread safe.
outcome<std::string> read_text(const system_root& root, std::string_view absolute_path);

/// The content without surrounding white space; otherwise as read_text.
outcome<std::string> read_word(const system_root& root, std::string_view absolute_path);

/// The names in a folder, ascending, without "." and ".."; errors as in read_text. Thread safe.
outcome<std::vector<std::string>> list_folder(const system_root& root,
                                              std::string_view absolute_path);

/// Name and meaning of an errno value: "EACCES (Permission denied)". Thread safe.
std::string errno_text(int error);

/// Whether an errno value means that the file does not exist, rather than that it is unreadable.
bool means_absent(int error) noexcept;

}  // namespace quern::topology
