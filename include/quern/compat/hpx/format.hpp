// SPDX-License-Identifier: BSL-1.0
// hpx::util::format: texts with placeholders, "{}" in order or "{1}" by number. After a colon in
// the braces follows a format of printf without the percent sign.
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

namespace hpx::util {

namespace detail {

/// Writes one value in the format after the colon.
using write_value = std::function<void(std::ostream&, std::string_view)>;

void format_with(std::ostream& out, std::string_view text, const write_value* values,
                 std::size_t count);

template <class T>
void write_one(std::ostream& out, std::string_view how, const T& value) {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
        if (!how.empty()) {
            std::array<char, 64> text{};
            std::string format = "%" + std::string(how);
            const bool has_type =
                std::string_view("diouxXeEfFgGaA").find(format.back()) != std::string_view::npos;
            if constexpr (std::is_floating_point_v<T>) {
                format += has_type ? "" : "f";
                std::snprintf(text.data(), text.size(), format.c_str(), double(value));
            } else {
                const char type = has_type ? format.back() : 'd';
                format.resize(format.size() - (has_type ? 1 : 0));
                format += std::string("ll") + type;
                std::snprintf(text.data(), text.size(), format.c_str(),
                              static_cast<long long>(value));
            }
            out << text.data();
            return;
        }
    }
    out << value;
}

}  // namespace detail

template <class... Values>
std::ostream& format_to(std::ostream& out, std::string_view text, const Values&... values) {
    const std::array<detail::write_value, sizeof...(Values) + 1> writers{
        [&values](std::ostream& to, std::string_view how) {
            detail::write_one(to, how, values);
        }...,
        detail::write_value()};
    detail::format_with(out, text, writers.data(), sizeof...(Values));
    return out;
}

template <class... Values>
std::string format(std::string_view text, const Values&... values) {
    std::ostringstream out;
    format_to(out, text, values...);
    return out.str();
}

}  // namespace hpx::util
