// SPDX-License-Identifier: BSL-1.0
// The destination of output that a setting asks for: a standard stream of the process, or a path. A
// regular file is replaced as a whole; a device or a pipe is written to.
#pragma once

#include <cstdio>
#include <string>

namespace quern::detail {

/// The process's own stream for "stdout", "stderr", "/dev/stdout" and "/dev/stderr"; null for any
/// other path.
std::FILE* standard_stream(const std::string& path) noexcept;

/// Whether the path must not be replaced: it exists and is no regular file, or it names an open
/// file of a process.
bool is_special(const std::string& path) noexcept;

/// "in run.html", "on stderr".
std::string place_in_words(const std::string& path);

/// Replaces the content of a file atomically: the new content is written beside it and renamed into
/// place. A symbolic link is kept and its target replaced. Special files are written to directly.
/// Not thread-safe.
class replacement {
public:
    /// Creates no file. Throws std::bad_alloc.
    explicit replacement(const std::string& path);
    /// Removes the new file unless put() has succeeded.
    ~replacement();
    replacement(const replacement&) = delete;
    replacement& operator=(const replacement&) = delete;

    /// The file to open, truncate and write.
    const std::string& path() const noexcept { return m_path; }
    /// Call after the new content was written and closed. On failure false, with errno.
    bool put() noexcept;

private:
    std::string m_target;  ///< empty for a special file
    std::string m_path;
};

}  // namespace quern::detail
