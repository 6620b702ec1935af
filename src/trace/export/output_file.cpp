// SPDX-License-Identifier: BSL-1.0
// Writes a temporary file and renames it, so that a reader never sees a partial file.
#include "export/output_file.hpp"

#include <quern/base/detail/output_place.hpp>

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>

namespace quern::trace::detail {

using quern::detail::is_special;
using quern::detail::replacement;
using quern::detail::standard_stream;

namespace {

std::string last_error() { return std::strerror(errno != 0 ? errno : EIO); }

}  // namespace

std::string numbered(const std::string& path, unsigned number) {
    if (number <= 1 || standard_stream(path) != nullptr || is_special(path)) {
        return path;
    }
    const std::size_t slash = path.rfind('/');
    const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
    const std::size_t dot = path.rfind('.');
    const bool has_extension = dot != std::string::npos && dot > name;
    const std::size_t at = has_extension ? dot : path.size();
    return path.substr(0, at) + "." + std::to_string(number) + path.substr(at);
}

file_mark::file_mark(const std::string& path) noexcept {
    struct ::stat found {};
    if (standard_stream(path) != nullptr || ::stat(path.c_str(), &found) != 0 ||
        !S_ISREG(found.st_mode)) {
        return;
    }
    constexpr std::int64_t k_ns_per_s = 1'000'000'000;
    m_is_file = true;
    m_device = found.st_dev;
    m_node = found.st_ino;
    m_written_ns = found.st_mtim.tv_sec * k_ns_per_s + found.st_mtim.tv_nsec;
}

bool file_mark::has_changed(const std::string& path) const noexcept {
    const file_mark now(path);
    return now.m_is_file && (!m_is_file || now.m_device != m_device || now.m_node != m_node ||
                             now.m_written_ns != m_written_ns);
}

std::string write_output(const std::string& path,
                         quern::detail::function_ref<void(std::ostream&)> write) {
    try {
        if (const std::FILE* const stream = standard_stream(path)) {
            std::ostream& to = stream == stdout ? std::cout : std::cerr;
            write(to);
            to.flush();
            return to ? "" : last_error();
        }
        replacement anew(path);
        errno = 0;
        std::ofstream file(anew.path(), std::ios::binary | std::ios::trunc);
        if (file) {
            write(file);
            file.close();
        }
        return file && anew.put() ? "" : last_error();
    } catch (const std::exception& error) {
        return error.what();
    }
}

}  // namespace quern::trace::detail
