// SPDX-License-Identifier: BSL-1.0
// Separators, indentation and escapes.
#include <quern/base/detail/json.hpp>

#include <quern/base/detail/utf8.hpp>

#include <cmath>

namespace quern::detail {

json& json::open(char bracket, std::string_view key) {
    start(key);
    m_out += bracket;
    m_open += bracket == '{' ? '}' : ']';
    return *this;
}

json& json::close() {
    const char bracket = m_open.back();
    m_open.pop_back();
    if (m_out.back() != '{' && m_out.back() != '[') {
        begin_line();
    }
    m_out += bracket;
    return *this;
}

json& json::plain(std::string_view value, std::string_view key) {
    start(key);
    m_out.append("\"").append(value).append("\"");
    return *this;
}

std::string json::take() {
    while (!m_open.empty()) {
        close();
    }
    return std::move(m_out) + "\n";
}

void json::start(std::string_view key) {
    if (!m_open.empty()) {
        const bool is_first = m_out.back() == '{' || m_out.back() == '[';
        m_out += is_first ? "" : ",";
        begin_line();
    }
    if (!key.empty()) {
        quote(key);
        m_out += m_layout == layout::indented ? ": " : ":";
    }
}

void json::begin_line() {
    if (m_layout == layout::indented) {
        m_out.append("\n").append(2 * m_open.size(), ' ');
    }
}

void json::number(double value) { m_out += std::isfinite(value) ? exact_number(value) : "null"; }

void json::quote(std::string_view text) {
    constexpr std::string_view k_hex = "0123456789abcdef";
    m_out += '"';
    std::size_t at = 0;
    while (at < text.size() && at < m_longest) {
        const std::size_t length = utf8_length(text.substr(at));
        const auto byte = static_cast<unsigned char>(text[at]);
        const bool is_markup = byte == '<' || byte == '>' || byte == '&';
        if (length == 0) {
            m_out += k_no_character;
        } else if (byte == '"' || byte == '\\') {
            m_out.append("\\").append(text.substr(at, 1));
        } else if (byte == '\n') {
            m_out += "\\n";
        } else if (byte < 0x20 || byte == 0x7f || is_markup) {
            m_out.append("\\u00").append({k_hex[byte / 16], k_hex[byte % 16]});
        } else {
            m_out.append(text.substr(at, length));
        }
        at += length == 0 ? 1 : length;
    }
    m_out.append(at < text.size() ? "…\"" : "\"");
}

}  // namespace quern::detail
