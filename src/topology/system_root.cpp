// SPDX-License-Identifier: BSL-1.0
// Reads small system files with plain open and read, so that the exact error is known and can be
// shown. Used by all readers of this layer and by the probes of the command-line tool.
#include <quern/topology/detail/text.hpp>
#include <quern/topology/system_root.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

namespace quern::topology {

namespace {

constexpr std::size_t k_largest_file =
    4u << 20;  // bytes; mountinfo of a busy container host is about 1 MiB

struct error_name {
    int value;
    const char* name;
};

// The errors of reading system files and of the system calls that Quern probes.
constexpr std::array k_error_names{
    error_name{EPERM, "EPERM"},
    error_name{ENOENT, "ENOENT"},
    error_name{EIO, "EIO"},
    error_name{EBADF, "EBADF"},
    error_name{EAGAIN, "EAGAIN"},
    error_name{ENOMEM, "ENOMEM"},
    error_name{EACCES, "EACCES"},
    error_name{EBUSY, "EBUSY"},
    error_name{EEXIST, "EEXIST"},
    error_name{ENODEV, "ENODEV"},
    error_name{ENOTDIR, "ENOTDIR"},
    error_name{EISDIR, "EISDIR"},
    error_name{EINVAL, "EINVAL"},
    error_name{ENFILE, "ENFILE"},
    error_name{EMFILE, "EMFILE"},
    error_name{ENOSPC, "ENOSPC"},
    error_name{ESRCH, "ESRCH"},
    error_name{ENOSYS, "ENOSYS"},
    error_name{ELOOP, "ELOOP"},
    error_name{ENODATA, "ENODATA"},
    error_name{EOVERFLOW, "EOVERFLOW"},
    error_name{EOPNOTSUPP, "EOPNOTSUPP"},
};

class file_descriptor {
public:
    explicit file_descriptor(const std::string& path)
        : m_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    ~file_descriptor() {
        if (m_fd >= 0) {
            ::close(m_fd);
        }
    }
    file_descriptor(const file_descriptor&) = delete;
    file_descriptor& operator=(const file_descriptor&) = delete;

    int get() const noexcept { return m_fd; }

private:
    int m_fd;
};

unavailable failed(const std::string& path, int error) {
    return {path + ": " + errno_text(error), error};
}

int refused(const system_root& root, std::string_view absolute_path) {
    return root.refuses != nullptr ? root.refuses(absolute_path) : 0;
}

}  // namespace

bool means_absent(int error) noexcept {
    switch (error) {
        case EINVAL:
        case ENODATA:
        case ENODEV:
        case ENOENT:
        case ENOSYS:
        case ENOTDIR:
        case ENXIO:
        case EOPNOTSUPP:
        case ESRCH:
            return true;
        default:
            return false;
    }
}

std::string errno_text(int error) {
    std::string text = "errno " + std::to_string(error);
    for (const error_name& known : k_error_names) {
        if (known.value == error) {
            text = known.name;
        }
    }
    return text + " (" + std::generic_category().message(error) + ")";
}

std::string system_root::resolve(std::string_view absolute) const {
    std::string path = prefix;
    while (!path.empty() && path.back() == '/') {
        path.pop_back();
    }
    if (absolute.empty() || absolute.front() != '/') {
        path.push_back('/');
    }
    return path.append(absolute);
}

outcome<std::string> read_text(const system_root& root, std::string_view absolute_path) {
    const std::string path = root.resolve(absolute_path);
    if (const int error = refused(root, absolute_path)) {
        return failed(path, error);
    }
    const file_descriptor file(path);
    if (file.get() < 0) {
        return failed(path, errno);
    }
    std::string text;
    std::array<char, 16384> chunk;
    while (text.size() < k_largest_file) {
        const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return failed(path, errno);
        }
        if (got == 0) {
            break;
        }
        text.append(chunk.data(), static_cast<std::size_t>(got));
    }
    return text;
}

outcome<std::string> read_word(const system_root& root, std::string_view absolute_path) {
    const outcome<std::string> text = read_text(root, absolute_path);
    if (!text) {
        return unavailable{text.reason(), text.error()};
    }
    return std::string(detail::trim(*text));
}

outcome<std::vector<std::string>> list_folder(const system_root& root,
                                              std::string_view absolute_path) {
    const std::string path = root.resolve(absolute_path);
    if (const int error = refused(root, absolute_path)) {
        return failed(path, error);
    }
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), ::closedir);
    if (folder == nullptr) {
        return failed(path, errno);
    }
    std::vector<std::string> names;
    while (const dirent* entry = ::readdir(folder.get())) {  // thread safe: the stream is local
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") {
            names.emplace_back(name);
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace quern::topology
