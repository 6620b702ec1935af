// SPDX-License-Identifier: BSL-1.0
// Writing JSON (RFC 8259). Bytes that are not ASCII are passed on when they are well-formed UTF-8,
// and are '?' otherwise: names of tasks are the user's.
#include "live_text.hpp"

#include <quern/base/utf8.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace quern::detail {

json_line& json_line::open(char bracket, std::string_view key) {
    start(key);
    m_out += bracket;
    return *this;
}

json_line& json_line::close(char bracket) {
    m_out += bracket;
    return *this;
}

json_line& json_line::text(std::string_view key, std::string_view value) {
    start(key);
    quote(value);
    return *this;
}

json_line& json_line::number(std::string_view key, double value) {
    start(key);
    if (!std::isfinite(value)) {
        m_out += "null";
        return *this;
    }
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.begin(), digits.end(), value).ptr;
    m_out.append(digits.begin(), end);
    return *this;
}

void json_line::start(std::string_view key) {
    if (!m_out.empty() && m_out.back() != '{' && m_out.back() != '[') {
        m_out += ',';
    }
    if (!key.empty()) {
        quote(key);
        m_out += ':';
    }
}

void json_line::quote(std::string_view value) {
    m_out += '"';
    while (!value.empty()) {
        const std::size_t length = utf8_length(value);
        const auto byte = static_cast<unsigned char>(value.front());
        constexpr std::string_view k_hex = "0123456789abcdef";
        if (length == 0) {
            m_out += '?';
        } else if (byte == '"' || byte == '\\') {
            m_out.append("\\").append(value.substr(0, 1));
        } else if (byte == '\n') {
            m_out += "\\n";
        } else if (byte < 0x20 || byte == 0x7f) {
            m_out.append("\\u00").append({k_hex[byte / 16], k_hex[byte % 16]});
        } else {
            m_out.append(value.substr(0, length));
        }
        value.remove_prefix(length == 0 ? 1 : length);
    }
    m_out += '"';
}

}  // namespace quern::detail
