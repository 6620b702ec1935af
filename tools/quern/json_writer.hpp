// SPDX-License-Identifier: BSL-1.0
// Writes JSON as it goes, for the subcommands of `quern`. It keeps the commas and the indentation
// right; the caller must close what it opens.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quern::tool {

class json_writer {
public:
    /// Inside an object every value needs a key, inside an array none has one.
    void begin_object(std::string_view key = {}) { open(key, '{'); }
    void begin_array(std::string_view key = {}) { open(key, '['); }
    void end_object() { close('}'); }
    void end_array() { close(']'); }

    void text(std::string_view key, std::string_view value) {
        start(key);
        append_quoted(value);
    }
    void boolean(std::string_view key, bool value) {
        start(key);
        m_out += value ? "true" : "false";
    }
    void number(std::string_view key, std::integral auto value) {
        start(key);
        m_out += std::to_string(value);
    }
    void number(std::string_view key, double value);

    /// Short arrays, on one line.
    template <std::integral Number>
    void numbers(std::string_view key, const std::vector<Number>& values) {
        start(key);
        m_out += '[';
        for (std::size_t i = 0; i < values.size(); ++i) {
            m_out += (i == 0 ? "" : ", ") + std::to_string(values[i]);
        }
        m_out += ']';
    }

    /// The document, with a new line at its end. Requires: everything is closed.
    std::string take() { return std::move(m_out) + "\n"; }

private:
    void start(std::string_view key);
    void open(std::string_view key, char bracket);
    void close(char bracket);
    void append_quoted(std::string_view value);

    std::string m_out;
    std::size_t m_depth = 0;
    bool m_first = true;  // nothing was written yet into the innermost object or array
};

}  // namespace quern::tool
