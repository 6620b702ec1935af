// SPDX-License-Identifier: BSL-1.0
// The file is appended to, by one write of one line under flock(2). So two processes lose nothing,
// and a line that was cut off by a crash spoils only itself. A file above a MiB is replaced, under
// the same lock and by rename(2), by one with the latest results: a reader sees the one or the
// other, and a writer that has waited for the lock looks whether its file is still the one.
#include "tuning/history.hpp"

#include "log/process_object.hpp"

#include <quern/base/detail/process.hpp>
#include <quern/base/detail/text.hpp>
#include <quern/topology/detail/processor_name.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace quern::adaptation::detail {

namespace {

using quern::detail::lock_of;
using quern::detail::process_lock;

constexpr std::string_view k_title = "quern tuning history ";
constexpr std::string_view k_header = "quern tuning history 1\n";
constexpr std::size_t k_fields = 8;
constexpr std::size_t k_key_fields = 5;
constexpr std::size_t k_most_bytes = 1 << 20;  // of the file: some 7000 results (chosen)
constexpr std::size_t k_most_said = 16;        // messages about one file (chosen)

struct history_file {
    std::string path;
    bool is_usable = true;  ///< false: another kind of file; it is left alone
    std::vector<std::string> said;
};

constinit process_object<history_file> g_file{};

[[gnu::destructor(quern::detail::k_after_static_objects)]] void forget_file() { g_file.forget(); }

/// Requires: the lock of this layer is held.
history_file& the_file() { return g_file.get(); }

/// Each message once for a file, and not many. Requires: as above.
void say(const std::string& what) {
    history_file& file = the_file();
    if (file.said.size() == k_most_said ||
        std::find(file.said.begin(), file.said.end(), what) != file.said.end()) {
        return;
    }
    file.said.push_back(what);
    std::fprintf(stderr, "quern: tune-history '%s': %s%s\n", file.path.c_str(), what.c_str(),
                 file.said.size() == k_most_said ? "; further messages are left out" : "");
}

std::string one_field(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
    return text;
}

std::vector<std::string_view> split(std::string_view line, char by) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t at = line.find(by);
        parts.push_back(line.substr(0, at));
        if (at == std::string_view::npos) {
            return parts;
        }
        line.remove_prefix(at + 1);
    }
}

std::string fields_of(const history_key& key) {
    return one_field(key.name) + '\t' + one_field(key.size) + '\t' + one_field(key.machine) + '\t' +
           std::to_string(key.workers) + '\t' + one_field(key.build) + '\t';
}

/// Nothing, with a message, for a line that is no result.
std::optional<remembered> result_in(std::string_view line, std::size_t number) {
    const std::vector<std::string_view> fields = split(line, '\t');
    remembered found;
    bool is_whole = fields.size() == k_fields;
    if (is_whole) {
        for (const std::string_view each : split(fields[5], ';')) {
            const auto value = quern::detail::finite_number(each);
            is_whole = is_whole && value;
            found.values.push_back(value.value_or(0));
        }
        const auto cost = quern::detail::finite_number(fields[6]);
        is_whole = is_whole && cost && *cost > 0;
        found.cost = cost.value_or(0);
        // Earlier versions wrote only the number of trials, and read no more of this field.
        const std::vector<std::string_view> trials = split(fields[7], ';');
        const auto confidence =
            trials.size() > 1 ? quern::detail::finite_number(trials[1]) : std::nullopt;
        found.confidence = std::clamp(confidence.value_or(1), 0.0, 1.0);
    }
    if (!is_whole) {
        say("line " + std::to_string(number) + " is damaged and ignored");
        return std::nullopt;
    }
    return found;
}

/// Whether the text is a history that this version reads. An empty one is.
bool is_history(std::string_view text) {
    if (text.empty() || text.starts_with(k_header)) {
        return true;
    }
    if (text.starts_with(k_title)) {
        const std::string_view rest = text.substr(k_title.size());
        say("is of version " + std::string(rest.substr(0, rest.find('\n'))) +
            "; this library knows version 1; it is neither read nor written");
    } else {
        say("is no tuning history: it begins with '" +
            quern::detail::clean_text(text.substr(0, text.find('\n')), 40) +
            "'; it is neither read nor written");
    }
    return false;
}

/// Nothing, with errno, if it cannot be read or is no ordinary file, such as a folder. A pipe would
/// keep the program waiting.
std::optional<std::string> contents_of(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        return std::nullopt;
    }
    struct stat about {};
    std::string text;
    ssize_t got = ::fstat(file, &about);
    int error = errno;
    if (got == 0 && !S_ISREG(about.st_mode)) {
        got = -1;
        error = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
    }
    char block[16'384];
    while (got >= 0 && (got = ::read(file, block, sizeof block)) != 0) {
        error = errno;
        text.append(block, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    }
    ::close(file);
    errno = error;
    return got == 0 ? std::optional(std::move(text)) : std::nullopt;
}

/// The text of the file; nothing of one that is not there yet, or not usable from now on.
std::optional<std::string> usable_contents(history_file& file) {
    std::optional<std::string> text = contents_of(file.path);
    if (text) {
        file.is_usable = is_history(*text);
    } else if (errno != ENOENT) {
        file.is_usable = false;
        say(std::string("cannot be read: ") +
            (errno == EINVAL ? "it is no file" : std::strerror(errno)) +
            "; it is neither read nor written");
    }
    return file.is_usable ? text : std::nullopt;
}

std::string build_of_program() {
    struct stat about {};
    if (::stat("/proc/self/exe", &about) != 0) {
        return "unknown";
    }
    return std::to_string(about.st_size) + "-" + std::to_string(about.st_mtim.tv_sec) + "." +
           std::to_string(about.st_mtim.tv_nsec);
}

/// False with errno.
bool write_whole(int file, const std::string& text) {
    errno = ENOSPC;  // of a write that is not whole
    return ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// Appends. Requires: the file is locked. False with errno.
bool append(int file, const struct stat& about, const std::string& line) {
    std::string text = about.st_size == 0 ? std::string(k_header) + line : line;
    char last = '\n';
    if (about.st_size > 0 && ::pread(file, &last, 1, about.st_size - 1) == 1 && last != '\n') {
        text.insert(0, 1, '\n');  // after a line that was cut off
    }
    return write_whole(file, text);
}

/// The latest line of each key, the oldest first, in half of the most bytes. Damaged ones are left
/// out.
std::string latest_of(std::string_view text) {
    std::vector<std::string_view> lines = split(text, '\n');
    std::vector<std::string_view> kept;
    std::set<std::string_view> keys;
    std::size_t bytes = k_header.size();
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
        if (std::count(line->begin(), line->end(), '\t') != k_fields - 1) {
            continue;
        }
        std::size_t end = 0;
        for (std::size_t i = 0; i < k_key_fields; ++i) {
            end = line->find('\t', end) + 1;
        }
        if (!keys.insert(line->substr(0, end)).second) {
            continue;
        }
        bytes += line->size() + 1;
        if (bytes > k_most_bytes / 2) {
            break;
        }
        kept.push_back(*line);
    }
    std::string all(k_header);
    for (auto line = kept.rbegin(); line != kept.rend(); ++line) {
        all.append(*line).push_back('\n');
    }
    return all;
}

/// Puts a file with the latest results and the line in the place of the one that has become too
/// long. Requires: that one is locked, so that one process does it. False if it cannot be done.
bool replace_file(const std::string& path, const struct stat& about, const std::string& line) {
    const std::optional<std::string> text = contents_of(path);
    if (!text || !is_history(*text)) {
        return false;
    }
    const std::string beside = path + ".new";
    ::unlink(beside.c_str());  // of a process that has crashed
    const int file = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) {
        return false;
    }
    const bool is_whole =
        write_whole(file, latest_of(*text) + line) && ::fchmod(file, about.st_mode & 07777U) == 0;
    ::close(file);
    if (is_whole && ::rename(beside.c_str(), path.c_str()) == 0) {
        return true;
    }
    ::unlink(beside.c_str());
    return false;
}

/// The file that has this name, locked. Negative, with errno, if it cannot be.
int open_locked(const std::string& path, struct stat& about) {
    for (;;) {
        const int file = ::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
        if (file < 0) {
            return file;
        }
        struct stat named {};
        if (::flock(file, LOCK_EX) != 0 || ::fstat(file, &about) != 0) {
            const int error = errno;
            ::close(file);
            errno = error;
            return -1;
        }
        if (::stat(path.c_str(), &named) == 0 && named.st_ino == about.st_ino &&
            named.st_dev == about.st_dev) {
            return file;
        }
        ::close(file);  // another process has replaced it meanwhile
    }
}

/// False with errno.
bool add_line(const std::string& name, const std::string& line) {
    char* const resolved = ::realpath(name.c_str(), nullptr);  // a link stays one
    const std::string path = resolved != nullptr ? resolved : name;
    std::free(resolved);  // NOLINT(cppcoreguidelines-no-malloc): from realpath(3)
    struct stat about {};
    const int file = open_locked(path, about);
    if (file < 0) {
        return false;
    }
    const bool is_long = static_cast<std::size_t>(about.st_size) > k_most_bytes;
    const bool is_kept = (is_long && replace_file(path, about, line)) || append(file, about, line);
    const int error = errno;
    ::close(file);
    errno = error;
    return is_kept;
}

}  // namespace

history_key key_of(const std::string& name, const space& where, unsigned workers) {
    history_key key;
    key.name = name;
    key.workers = workers;
    for (const parameter& each : where.parameters()) {
        const double order = std::floor(std::log2(std::max(1.0, std::abs(each.most()))));
        key.size +=
            (key.size.empty() ? "" : " ") + each.name() + "<2^" + quern::detail::rounded(order + 1);
    }
    key.machine = topology::detail::processor_name() + ", " +
                  std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)) + " CPUs";
    key.build = build_of_program();
    return key;
}

void remember_in(const std::string& path) {
    const std::scoped_lock lock(lock_of(process_lock::adaptation));
    if (the_file().path != path) {
        the_file() = {};
        the_file().path = path;
    }
    the_file().is_usable = true;  // it may be another file by now
}

std::optional<remembered> recall(const history_key& key) {
    const std::scoped_lock lock(lock_of(process_lock::adaptation));
    history_file& file = the_file();
    if (file.path.empty() || !file.is_usable) {
        return std::nullopt;
    }
    const std::optional<std::string> text = usable_contents(file);
    if (!text) {
        return std::nullopt;
    }
    const std::string wanted = fields_of(key);
    std::optional<remembered> found;
    std::size_t number = 0;
    for (const std::string_view line : split(*text, '\n')) {
        if (++number > 1 && !line.empty()) {
            auto result = result_in(line, number);
            if (result && line.starts_with(wanted)) {
                found = std::move(result);
            }
        }
    }
    return found;
}

void remember(const history_key& key, const remembered& found, std::size_t trials) {
    const std::scoped_lock lock(lock_of(process_lock::adaptation));
    history_file& file = the_file();
    if (file.path.empty() || !file.is_usable || !(found.cost > 0) || !std::isfinite(found.cost)) {
        return;
    }
    std::string line = fields_of(key);
    for (std::size_t i = 0; i < found.values.size(); ++i) {
        line += (i == 0 ? "" : ";") + quern::detail::exact_number(found.values[i]);
    }
    line += '\t' + quern::detail::exact_number(found.cost) + '\t' + std::to_string(trials) + ';' +
            quern::detail::fixed(found.confidence, 3) + '\n';
    if (!add_line(file.path, line)) {
        say(std::string("what was found is not kept: ") + std::strerror(errno));
    }
}

}  // namespace quern::adaptation::detail
