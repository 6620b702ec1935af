// SPDX-License-Identifier: BSL-1.0
#include "primitives/parameters.hpp"

#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string>

namespace quern::arrays::detail {

namespace {

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' '))
        text.remove_prefix(1);
    while (text.ends_with(' '))
        text.remove_suffix(1);
    return text;
}

value number_of(std::string_view text) {
    const char* const end = text.data() + text.size();
    std::int64_t whole = 0;
    if (const auto r = std::from_chars(text.data(), end, whole);
        r.ec == std::errc() && r.ptr == end) {
        return whole;
    }
    double real = 0;
    if (const auto r = std::from_chars(text.data(), end, real);
        r.ec == std::errc() && r.ptr == end) {
        return real;
    }
    throw std::logic_error("arrays: the default '" + std::string(text) +
                           "' of a parameter; accepted: None, True, False, numbers, 'text'");
}

value preset_of(std::string_view text) {
    if (text == "None") return none();
    if (text == "True") return true;
    if (text == "False") return false;
    if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'') {
        return std::string(text.substr(1, text.size() - 2));
    }
    return number_of(text);
}

}  // namespace

std::vector<parameter> parameters_of(std::string_view text) {
    std::vector<parameter> all;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        const std::string_view one = text.substr(0, comma);
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
        const std::size_t equals = one.find('=');
        parameter next{trimmed(one.substr(0, equals)), std::nullopt};
        if (equals != std::string_view::npos)
            next.preset = preset_of(trimmed(one.substr(equals + 1)));
        all.push_back(std::move(next));
    }
    return all;
}

}  // namespace quern::arrays::detail
