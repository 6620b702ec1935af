// SPDX-License-Identifier: BSL-1.0
// The file of one-core times: a first line with the format and version, a line per site, and a last
// line with their number, which detects a truncated file.
#include <quern/trace/calibration.hpp>

#include "analyse/words.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace quern::trace {

namespace {

constexpr std::string_view k_first_line = "quern calibration 1";
constexpr std::string_view k_any_version = "quern calibration ";

/// Characters that would end a line or a field, and their escapes.
struct escape {
    char plain;
    char letter;
};
constexpr std::array<escape, 4> k_escapes{{{'\\', '\\'}, {'\t', 't'}, {'\n', 'n'}, {'\r', 'r'}}};

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const auto* const found = std::find_if(k_escapes.begin(), k_escapes.end(),
                                               [c](const escape& e) { return e.plain == c; });
        if (found == k_escapes.end()) {
            out.push_back(c);
        } else {
            out.append(1, '\\').append(1, found->letter);
        }
    }
    return out;
}

std::optional<std::string> unescaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') {
            out.push_back(text[i]);
            continue;
        }
        const char letter = ++i < text.size() ? text[i] : '\0';
        const auto* const found = std::find_if(k_escapes.begin(), k_escapes.end(),
                                               [=](const escape& e) { return e.letter == letter; });
        if (found == k_escapes.end()) {
            return std::nullopt;
        }
        out.push_back(found->plain);
    }
    return out;
}

/// Removes the text up to the separator, and the separator; returns the text.
std::string_view take(std::string_view& text, char separator) {
    const std::size_t at = std::min(text.find(separator), text.size());
    const std::string_view head = text.substr(0, at);
    text.remove_prefix(std::min(at + 1, text.size()));
    return head;
}

bool parse(std::string_view text, std::uint64_t& into) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, into);
    return error == std::errc{} && stop == end;
}

/// "site 1000 1234.5 name<tab>location" without its first word.
std::optional<one_core_time> parse_site(std::string_view line) {
    one_core_time entry;
    if (!parse(take(line, ' '), entry.tasks)) {
        return std::nullopt;
    }
    const std::optional<double> mean_ns = quern::detail::finite_number(take(line, ' '));
    if (!mean_ns || *mean_ns < 0.0) {
        return std::nullopt;
    }
    entry.mean_ns = *mean_ns;
    const std::optional<std::string> name = unescaped(take(line, '\t'));
    const std::optional<std::string> location = unescaped(line);
    if (!name || !location) {
        return std::nullopt;
    }
    entry.name = *name;
    entry.location = *location;
    return entry;
}

calibration fault(const std::string& path, std::size_t line, const std::string& what) {
    calibration none;
    none.fault =
        path + (line == 0 ? "" : ":" + std::to_string(line)) + ": " + what + "; it is ignored";
    return none;
}

calibration wrong_first_line(const std::string& path, std::string_view line) {
    if (line.starts_with(k_any_version)) {
        return fault(
            path, 1,
            "a calibration of version " + std::string(line.substr(k_any_version.size(), 20)) +
                ", and this Quern reads version 1: run again with `quern run --calibrate`");
    }
    return fault(path, 1,
                 "not a calibration, it does not begin with '" + std::string(k_first_line) + "'");
}

calibration parse_file(const std::string& path, std::istream& file) {
    calibration found;
    std::string text;
    std::size_t number = 0;
    bool ended = false;
    for (; !ended && std::getline(file, text);) {
        std::string_view line = text;
        if (++number == 1) {
            if (line != k_first_line) {
                return wrong_first_line(path, line);
            }
            continue;
        }
        const std::string_view word = take(line, ' ');
        std::optional<one_core_time> entry;
        std::size_t count = 0;
        if (word == "site" && (entry = parse_site(line))) {
            found.sites.push_back(std::move(*entry));
        } else if (word == "end" && parse(line, count) && count == found.sites.size()) {
            ended = true;
        } else {
            return fault(path, number, "a damaged line");
        }
    }
    if (!ended) {
        return fault(path, 0, number == 0 ? "an empty file" : "its end is missing");
    }
    return found;
}

}  // namespace

const one_core_time* calibration::find(const site& of) const noexcept {
    const one_core_time* same_name = nullptr;
    std::size_t count = 0;
    for (const one_core_time& one : sites) {
        if (one.name == of.name) {
            if (one.location == of.location) {
                return &one;
            }
            same_name = &one;
            ++count;
        }
    }
    return count == 1 ? same_name : nullptr;
}

calibration calibration_of(const recording& run) {
    if (run.lanes.size() != 1) {
        throw std::invalid_argument("a calibration comes from a run on one worker, not on " +
                                    std::to_string(run.lanes.size()));
    }
    calibration times;
    for (const site& one : run.sites) {
        if (one.tasks != 0) {
            times.sites.push_back({one.name, one.location, one.tasks, one.mean_ns()});
        }
    }
    return times;
}

void write_calibration(const calibration& times, std::ostream& to) {
    to << k_first_line << '\n';
    for (const one_core_time& one : times.sites) {
        to << "site " << std::to_string(one.tasks) << ' ' << detail::fixed(one.mean_ns, 3) << ' '
           << escaped(one.name) << '\t' << escaped(one.location) << '\n';
    }
    to << "end " << std::to_string(times.sites.size()) << '\n';
}

calibration read_calibration(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::exists(path, error) && !error) {
        return {};
    }
    if (!error && !std::filesystem::is_regular_file(path, error) && !error) {
        error = std::make_error_code(std::errc::invalid_argument);
    }
    std::ifstream file(path);
    if (error || !file) {
        const std::error_code why = error ? error : std::error_code(errno, std::generic_category());
        return fault(path, 0, "cannot be read: " + why.message());
    }
    return parse_file(path, file);
}

std::string default_calibration_path() {
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? std::string() : program.string() + ".quern-calibration";
}

}  // namespace quern::trace
