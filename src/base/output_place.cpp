// SPDX-License-Identifier: BSL-1.0
// Distinguishes files from devices; renames only onto files.
#include <quern/base/detail/output_place.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>

namespace quern::detail {

namespace {

/// Resolves links; the path itself if that fails.
std::string followed(const std::string& path) {
    char target[PATH_MAX];
    return ::realpath(path.c_str(), target) != nullptr ? target : path;
}

/// A dangling link: rename() cannot follow it, but open() can.
bool is_loose_link(const std::string& path) noexcept {
    struct stat itself {};
    struct stat target {};
    return ::lstat(path.c_str(), &itself) == 0 && S_ISLNK(itself.st_mode) &&
           ::stat(path.c_str(), &target) != 0;
}

}  // namespace

std::FILE* standard_stream(const std::string& path) noexcept {
    return path == "stdout" || path == "/dev/stdout"   ? stdout
           : path == "stderr" || path == "/dev/stderr" ? stderr
                                                       : nullptr;
}

bool is_special(const std::string& path) noexcept {
    if (path.rfind("/dev/fd/", 0) == 0 || path.rfind("/proc/", 0) == 0) {
        return true;  // replacing an open file would create another one
    }
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode);
}

std::string place_in_words(const std::string& path) {
    return (standard_stream(path) != nullptr ? "on " : "in ") + path;
}

replacement::replacement(const std::string& path) {
    if (is_special(path) || is_loose_link(path)) {
        m_path = path;
        return;
    }
    m_target = followed(path);
    m_path = m_target + "." + std::to_string(::getpid()) + ".tmp";
}

replacement::~replacement() {
    if (!m_target.empty()) {
        const int error = errno;  // keep the caller's errno
        ::unlink(m_path.c_str());
        errno = error;
    }
}

bool replacement::put() noexcept {
    if (m_target.empty()) {
        return true;
    }
    if (::rename(m_path.c_str(), m_target.c_str()) != 0) {
        return false;
    }
    m_target.clear();
    return true;
}

}  // namespace quern::detail
