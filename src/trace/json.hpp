// SPDX-License-Identifier: BSL-1.0
// Writes JSON that may stand inside a script element of a page: no character that HTML could take
// for markup, always valid UTF-8, always finite numbers. Private to the layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace quern::trace::detail {

/// Text as valid UTF-8: other bytes become U+FFFD; what is longer than the limit, in bytes, ends in
/// an ellipsis.
std::string clean_text(std::string_view text, std::size_t limit = 500);

/// The clean text as a JSON string with its quotes.
std::string json_text(std::string_view text, std::size_t limit = 500);

/// The shortest number that reads as the same double; 0 for what is not finite.
std::string json_number(double value);

/// Objects and arrays, with commas where they belong. Calls nest as the text does.
///
///     json out;
///     out.open('{').field("tasks", 3).key("names").open('[').text("a").close(']').close('}');
class json {
public:
    json& open(char bracket) {
        separate();
        m_out.push_back(bracket);
        m_first = true;
        return *this;
    }
    json& close(char bracket) {
        m_out.push_back(bracket);
        m_first = false;
        return *this;
    }
    json& key(std::string_view name) {
        separate();
        m_out.append("\"").append(name).append("\":");
        m_first = true;
        return *this;
    }
    json& text(std::string_view value, std::size_t limit = 500) {
        separate();
        m_out.append(json_text(value, limit));
        return *this;
    }
    json& number(double value) {
        separate();
        m_out.append(json_number(value));
        return *this;
    }
    /// What needs no escape, such as base64.
    json& plain(std::string_view value) {
        separate();
        m_out.append("\"").append(value).append("\"");
        return *this;
    }
    json& field(std::string_view name, std::string_view value) { return key(name).text(value); }
    json& field(std::string_view name, double value) { return key(name).number(value); }
    json& field(std::string_view name, std::uint64_t value) {
        return key(name).number(static_cast<double>(value));
    }

    std::string& str() noexcept { return m_out; }

private:
    void separate() {
        if (!m_first) {
            m_out.push_back(',');
        }
        m_first = false;
    }

    std::string m_out;
    bool m_first = true;
};

}  // namespace quern::trace::detail
