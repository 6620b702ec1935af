// SPDX-License-Identifier: BSL-1.0
// The file is only ever appended to, by one write of one line under flock(2). So two processes lose
// nothing, and a line that was cut off by a crash spoils itself alone.
#include "history.hpp"

#include "kept.hpp"

#include <quern/base/detail/process.hpp>
#include <quern/base/detail/text.hpp>
#include <quern/topology/detail/processor_name.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <mutex>
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

struct history_file {
    std::string path;
    bool is_usable = true;  ///< false: another kind of file; it is left alone
    std::vector<std::string> said;
};

constinit kept<history_file> g_file{};

[[gnu::destructor(quern::detail::k_after_static_objects)]] void forget_file() { g_file.forget(); }

/// Requires: the lock of this layer is held.
history_file& the_file() { return g_file.get(); }

/// Each message once for a file. Requires: as above.
void say(const std::string& what) {
    history_file& file = the_file();
    if (std::find(file.said.begin(), file.said.end(), what) == file.said.end()) {
        file.said.push_back(what);
        std::fprintf(stderr, "quern: tune-history '%s': %s\n", file.path.c_str(), what.c_str());
    }
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

std::optional<double> number_in(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() && std::isfinite(value)
               ? std::optional(value)
               : std::nullopt;
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
            const auto value = number_in(each);
            is_whole = is_whole && value;
            found.values.push_back(value.value_or(0));
        }
        const auto cost = number_in(fields[6]);
        is_whole = is_whole && cost && *cost > 0;
        found.cost = cost.value_or(0);
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
bool append(int file, const std::string& line) {
    struct stat about {};
    if (::flock(file, LOCK_EX) != 0 || ::fstat(file, &about) != 0) {
        return false;
    }
    std::string text = about.st_size == 0 ? std::string(k_header) + line : line;
    char last = '\n';
    if (about.st_size > 0 && ::pread(file, &last, 1, about.st_size - 1) == 1 && last != '\n') {
        text.insert(0, 1, '\n');  // after a line that was cut off
    }
    errno = ENOSPC;  // of a write that is not whole
    return ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
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
    const int opened = ::open(file.path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    std::string line = fields_of(key);
    for (std::size_t i = 0; i < found.values.size(); ++i) {
        line += (i == 0 ? "" : ";") + quern::detail::exact_number(found.values[i]);
    }
    line += '\t' + quern::detail::exact_number(found.cost) + '\t' + std::to_string(trials) + '\n';
    if (opened < 0 || !append(opened, line)) {
        say(std::string("what was found is not kept: ") + std::strerror(errno));
    }
    if (opened >= 0) {
        ::close(opened);
    }
}

}  // namespace quern::adaptation::detail
