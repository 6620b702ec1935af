// SPDX-License-Identifier: BSL-1.0
// The bodies of grain_plan.hpp.
#include "grain_plan.hpp"

#include "command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace quern::tool {

namespace {

constexpr double k_largest_grain = 1e15;  // whole numbers up to here are exact as double
constexpr unsigned k_most_workers = 4096;

bool is_name(std::string_view text) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto other = [](char c) { return (c >= '0' && c <= '9') || c == '_' || c == '-'; };
    return !text.empty() && letter(text[0]) &&
           std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || other(c); });
}

/// The place and length of the first {name} from `from` on; length 0 when there is none.
struct placeholder {
    std::size_t begin = 0;
    std::size_t length = 0;
};

placeholder find_placeholder(std::string_view word, std::size_t from = 0) {
    for (std::size_t open = word.find('{', from); open != std::string_view::npos;
         open = word.find('{', open + 1)) {
        const std::size_t shut = word.find('}', open);
        if (shut != std::string_view::npos && is_name(word.substr(open + 1, shut - open - 1))) {
            return {open, shut - open + 1};
        }
    }
    return {};
}

std::vector<std::string_view> split(std::string_view list) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t comma = list.find(',');
        parts.push_back(list.substr(0, comma));
        if (comma == std::string_view::npos) {
            return parts;
        }
        list.remove_prefix(comma + 1);
    }
}

template <class Number>
void sort_each_once(std::vector<Number>& numbers) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

/// Two digits from 10 to 99 for each step of a decade.
std::vector<unsigned> digits_of_decade(unsigned per_decade) {
    switch (per_decade) {
        case 1:
            return {10};
        case 2:
            return {10, 30};
        case 3:
            return {10, 20, 50};
        default:
            break;
    }
    std::vector<unsigned> digits;
    digits.reserve(per_decade);
    for (unsigned i = 0; i < per_decade; ++i) {
        digits.push_back(
            static_cast<unsigned>(std::lround(10 * std::pow(10.0, i / (1.0 * per_decade)))));
    }
    return digits;
}

}  // namespace

command_template::command_template(std::vector<std::string> words) : m_words(std::move(words)) {
    if (m_words.empty()) {
        throw usage_error(
            "quern grain: no program; write it and its arguments behind '--', with {name} where "
            "the "
            "grain belongs: quern grain --from 1000 --to 1e6 -- heat --partition {partition}");
    }
    for (std::size_t i = 1; i < m_words.size(); ++i) {
        const std::string_view word = m_words[i];
        for (placeholder at = find_placeholder(word); at.length != 0;
             at = find_placeholder(word, at.begin + at.length)) {
            const std::string found(word.substr(at.begin + 1, at.length - 2));
            if (!m_name.empty() && found != m_name) {
                throw usage_error(fmt::format(
                    "quern grain: two names in braces, '{{{}}}' and '{{{}}}'; accepted: one, as "
                    "often as needed",
                    m_name, found));
            }
            m_name = found;
        }
    }
    if (m_name.empty()) {
        throw usage_error(
            fmt::format("quern grain: no {{name}} among the arguments of '{}'; put it "
                        "where the grain belongs, as in --partition {{partition}}",
                        text()));
    }
}

std::vector<std::string> command_template::with(grain_size size) const {
    const std::string hole = "{" + m_name + "}";
    const std::string filling = std::to_string(size);
    std::vector<std::string> words = m_words;
    for (std::size_t i = 1; i < words.size(); ++i) {
        for (std::size_t at = words[i].find(hole); at != std::string::npos;
             at = words[i].find(hole, at + filling.size())) {
            words[i].replace(at, hole.size(), filling);
        }
    }
    return words;
}

std::string command_template::text() const { return fmt::format("{}", fmt::join(m_words, " ")); }

std::vector<grain_size> series_of_grains(grain_size least, grain_size most, unsigned per_decade) {
    if (least > most) {
        throw usage_error(fmt::format(
            "quern grain: --from is {}, --to is {}; accepted: --from at most --to", least, most));
    }
    std::vector<grain_size> sizes = {least, most};
    for (grain_size power = 1; power <= most; power *= 10) {
        for (const unsigned digits : digits_of_decade(per_decade)) {
            const grain_size size = power * digits / 10;
            if (size > least && size < most) {
                sizes.push_back(size);
            }
        }
    }
    sort_each_once(sizes);
    return sizes;
}

grain_size parse_grain(std::string_view option, std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !(value >= 1) ||
        value > k_largest_grain || value != std::floor(value)) {
        throw usage_error(
            fmt::format("quern grain: {} is '{}'; accepted: a whole number from 1 to 1e15, such as "
                        "20000 or 2e4",
                        option, text));
    }
    return static_cast<grain_size>(value);
}

std::vector<grain_size> parse_grains(std::string_view option, std::string_view text) {
    std::vector<grain_size> sizes;
    for (const std::string_view part : split(text)) {
        sizes.push_back(parse_grain(option, part));
    }
    sort_each_once(sizes);
    return sizes;
}

std::vector<unsigned> parse_workers(std::string_view option, std::string_view text, unsigned all) {
    std::vector<unsigned> numbers;
    for (const std::string_view part : split(text)) {
        unsigned value = part == "all" ? all : 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
        const bool is_number = error == std::errc{} && end == part.data() + part.size();
        if (part != "all" && (!is_number || value < 1 || value > k_most_workers)) {
            throw usage_error(
                fmt::format("quern grain: {} is '{}'; accepted: whole numbers from 1 to {}, or "
                            "all, with commas "
                            "between them",
                            option, part, k_most_workers));
        }
        numbers.push_back(value);
    }
    sort_each_once(numbers);
    return numbers;
}

}  // namespace quern::tool
