// SPDX-License-Identifier: BSL-1.0
// Finders of numbers in text, and the source of a single file.
#include "system/files.hpp"

#include "system/reading.hpp"

#include <quern/topology/detail/text.hpp>

#include <utility>

namespace quern::counters::detail {

namespace {

using topology::outcome;
using topology::unavailable;
using topology::detail::in_quotes;
using topology::detail::parse_number;
using topology::detail::split;
using topology::detail::words;

outcome<double> number(std::string_view text, const std::string& what) {
    if (const auto value = parse_number(text)) {
        return static_cast<double>(*value);
    }
    return unavailable{"malformed: expected a number " + what + ", found " + in_quotes(text)};
}

/// The words of the first line whose first word is `key`; empty without such a line.
std::vector<std::string_view> line_of(std::string_view text, std::string_view key) {
    for (const std::string_view line : split(text, '\n')) {
        if (line.starts_with(key)) {
            std::vector<std::string_view> found = words(line);
            if (found.front() == key) {
                return found;
            }
        }
    }
    return {};
}

unavailable no_line(const std::string& key) { return {"no line " + in_quotes(key)}; }

}  // namespace

finder word_at(std::size_t index) {
    return [index](std::string_view text) -> outcome<double> {
        const std::vector<std::string_view> found = words(text.substr(0, text.find('\n')));
        if (index >= found.size()) {
            return unavailable{"malformed: expected " + std::to_string(index + 1) +
                               " numbers, found " + in_quotes(text)};
        }
        return number(found[index], "at place " + std::to_string(index + 1));
    };
}

finder after(std::string key) {
    return [key = std::move(key)](std::string_view text) -> outcome<double> {
        const std::vector<std::string_view> found = line_of(text, key);
        if (found.empty()) {
            return no_line(key);
        }
        return number(found.size() > 1 ? found[1] : std::string_view(), "after " + in_quotes(key));
    };
}

finder in_line(std::string line, std::string key) {
    return [line = std::move(line),
            key = std::move(key)](std::string_view text) -> outcome<double> {
        const std::vector<std::string_view> found = line_of(text, line);
        if (found.empty()) {
            return no_line(line);
        }
        for (const std::string_view word : found) {
            if (word.starts_with(key)) {
                return number(word.substr(key.size()), "after " + in_quotes(key));
            }
        }
        return unavailable{"malformed: no " + in_quotes(key) + " in the line " + in_quotes(line)};
    };
}

file_source::file_source(topology::system_root root, std::string path,
                         std::vector<file_counter> found)
    : m_root(std::move(root)), m_path(std::move(path)), m_counters(std::move(found)) {
    for (const file_counter& one : m_counters) {
        m_infos.push_back(one.info);
    }
}

std::vector<raw_reading> file_source::read(const place& where) {
    if (const auto refused = refuse_parts(where)) {
        return all_alike(*refused, m_infos.size());
    }
    const outcome<std::string> text = topology::read_text(m_root, m_path);
    if (!text) {
        return all_alike(no_reading(unavailable{text.reason(), text.error()}), m_infos.size());
    }
    std::vector<raw_reading> readings;
    for (const file_counter& one : m_counters) {
        readings.push_back(read_one(one, *text));
    }
    return readings;
}

raw_reading file_source::read_one(const file_counter& one, std::string_view text) const {
    const auto fail = [this](const std::string& reason) {
        return no_reading(source_state::absent, m_root.resolve(m_path) + ": " + reason);
    };
    const outcome<double> above = one.find(text);
    if (!above) {
        return fail(above.reason());
    }
    raw_reading reading = reading_of(*above * one.factor);
    if (one.below) {
        const outcome<double> below = one.below(text);
        if (!below) {
            return fail(below.reason());
        }
        reading.below = *below * one.factor;
    }
    return reading;
}

}  // namespace quern::counters::detail
