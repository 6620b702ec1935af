// SPDX-License-Identifier: BSL-1.0
// Writing JSON (RFC 8259). Bytes that are not ASCII are passed on when they are well-formed UTF-8,
// and are '?' otherwise: names of tasks are the user's.
#include "live_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace quern::detail {

namespace {

/// The length of the UTF-8 sequence at the front, 0 when it is malformed or cut short.
std::size_t utf8_length(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text.front());
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xc2 ? 0
                               : lead < 0xe0 ? 2
                               : lead < 0xf0 ? 3
                               : lead < 0xf5 ? 4
                                             : 0;
    if (length > text.size()) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

}  // namespace

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
