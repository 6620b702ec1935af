// SPDX-License-Identifier: BSL-1.0
// Where /proc and /sys begin. Every reader of system files in Quern takes a system_root, so that a
// test, or `quern info --root`, can show it an invented machine in a temporary folder. Must never
// write, and must survive any file content.
#pragma once

#include <quern/topology/outcome.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace quern::topology {

struct system_root {
    std::string prefix = "/";

    /// For tests, which often run as root: the errno value that opening this absolute path is to
    /// give in place of the file, or 0. Null outside of tests.
    int (*refuses)(std::string_view absolute) = nullptr;

    /// Whether this is the machine the process runs on, so that system calls may be asked as well
    /// as files.
    bool real() const noexcept { return prefix.empty() || prefix == "/"; }

    /// The path to open for an absolute path of the system, such as "/proc/self/cgroup".
    std::string resolve(std::string_view absolute) const;
};

/// A whole small text file, at most 4 MiB of it; the reason names the file and the error ("… :
/// ENOENT (No such file or directory)"). Files of /proc and /sys are read to the end in as few
/// reads as possible. Thread safe.
outcome<std::string> read_text(const system_root& root, std::string_view absolute_path);

/// The content without white space at both ends; otherwise as read_text.
outcome<std::string> read_word(const system_root& root, std::string_view absolute_path);

/// The names in a folder, ascending, without "." and ".."; errors as in read_text. Thread safe.
outcome<std::vector<std::string>> list_folder(const system_root& root,
                                              std::string_view absolute_path);

/// The name and the meaning of an errno value: "EACCES (Permission denied)". Thread safe.
std::string errno_text(int error);

/// Whether an errno value says that there is no such thing, rather than that it may not be read.
bool means_absent(int error) noexcept;

}  // namespace quern::topology
