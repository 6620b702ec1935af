// SPDX-License-Identifier: BSL-1.0
// Where a process writes what a setting asks for: one of its streams, or something with a path. A
// file is replaced as a whole; anything else that has a path, a device or a pipe, is written to.
#pragma once

#include <cstdio>
#include <string>

namespace quern::detail {

/// The process's own stream for "stdout", "stderr", "/dev/stdout" and "/dev/stderr"; null for any
/// other path.
std::FILE* standard_stream(const std::string& path) noexcept;

/// Whether what stands under the path must stay: it is there and is no regular file, or the path
/// names what a process has open.
bool is_special(const std::string& path) noexcept;

/// "in run.html", "on stderr".
std::string place_in_words(const std::string& path);

/// A new content for a file, of which nobody sees half: it is written beside it and put in its
/// place. A link stays one; what it leads to is replaced. What is special is written to as it
/// stands. Not thread-safe.
class replacement {
public:
    /// Touches nothing. Throws std::bad_alloc.
    explicit replacement(const std::string& path);
    /// Removes what was not put in place.
    ~replacement();
    replacement(const replacement&) = delete;
    replacement& operator=(const replacement&) = delete;

    /// To be opened, truncated and written.
    const std::string& path() const noexcept { return m_path; }
    /// After the new content was written and closed. False, with errno: it could not be put there.
    bool put() noexcept;

private:
    std::string m_target;  ///< empty: of something special
    std::string m_path;
};

}  // namespace quern::detail
