// SPDX-License-Identifier: BSL-1.0
// The bodies of json_writer: separators, indentation, escapes (RFC 8259). Bytes that are not valid
// UTF-8 cannot be shown in JSON; they come from foreign files only, and become '?'.
#include "json_writer.hpp"

#include <quern/base/utf8.hpp>

#include <fmt/format.h>

#include <cmath>

namespace quern::tool {

void json_writer::number(std::string_view key, double value) {
    start(key);
    m_out += std::isfinite(value) ? fmt::format("{}", value) : "null";
}

void json_writer::start(std::string_view key) {
    if (m_depth > 0) {
        m_out += m_first ? "\n" : ",\n";
        m_out.append(2 * m_depth, ' ');
    }
    m_first = false;
    if (!key.empty()) {
        append_quoted(key);
        m_out += ": ";
    }
}

void json_writer::open(std::string_view key, char bracket) {
    start(key);
    m_out += bracket;
    ++m_depth;
    m_first = true;
}

void json_writer::close(char bracket) {
    --m_depth;
    if (!m_first) {
        m_out += '\n';
        m_out.append(2 * m_depth, ' ');
    }
    m_out += bracket;
    m_first = false;
}

void json_writer::append_quoted(std::string_view value) {
    m_out += '"';
    while (!value.empty()) {
        const std::size_t length = quern::detail::utf8_length(value);
        const auto byte = static_cast<unsigned char>(value.front());
        if (length == 0) {
            m_out += '?';
        } else if (byte == '"' || byte == '\\') {
            m_out.append("\\").append(value.substr(0, 1));
        } else if (byte < 0x20) {
            m_out += fmt::format("\\u{:04x}", byte);
        } else {
            m_out.append(value.substr(0, length));
        }
        value.remove_prefix(length == 0 ? 1 : length);
    }
    m_out += '"';
}

}  // namespace quern::tool
