// SPDX-License-Identifier: BSL-1.0
// Writing beside the file and renaming, so that a reader never sees half of it.
#include "output_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>

namespace quern::trace::detail {

namespace {

std::string last_error() { return std::strerror(errno != 0 ? errno : EIO); }

/// Removes what is left of it.
struct file_beside {
    explicit file_beside(const std::string& of)
        : path(of + "." + std::to_string(::getpid()) + ".tmp") {}
    file_beside(const file_beside&) = delete;
    file_beside& operator=(const file_beside&) = delete;
    ~file_beside() { std::remove(path.c_str()); }

    const std::string path;
};

bool is_stream(const std::string& path) { return path == "stdout" || path == "stderr"; }

}  // namespace

std::string numbered(const std::string& path, unsigned number) {
    if (number <= 1 || is_stream(path)) {
        return path;
    }
    const std::size_t slash = path.rfind('/');
    const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
    const std::size_t dot = path.rfind('.');
    const bool has_extension = dot != std::string::npos && dot > name;
    const std::size_t at = has_extension ? dot : path.size();
    return path.substr(0, at) + "." + std::to_string(number) + path.substr(at);
}

std::string place_in_words(const std::string& path) {
    return (is_stream(path) ? "on " : "in ") + path;
}

std::string write_output(const std::string& path, void (*write)(std::ostream& to, const void* data),
                         const void* data) {
    try {
        if (is_stream(path)) {
            std::ostream& to = path == "stdout" ? std::cout : std::cerr;
            write(to, data);
            to.flush();
            return to ? "" : last_error();
        }
        const file_beside beside(path);
        errno = 0;
        std::ofstream file(beside.path, std::ios::binary | std::ios::trunc);
        if (file) {
            write(file, data);
            file.close();
        }
        return file && std::rename(beside.path.c_str(), path.c_str()) == 0 ? "" : last_error();
    } catch (const std::exception& error) {
        return error.what();
    }
}

}  // namespace quern::trace::detail
