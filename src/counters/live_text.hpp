// SPDX-License-Identifier: BSL-1.0
// JSON on one line, for answers to those who look in. Small, because it must not disturb: it writes
// as it goes, and the caller closes what it opens.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace quern::detail {

class json_line {
public:
    json_line& open(char bracket, std::string_view key = {});
    json_line& close(char bracket);
    json_line& text(std::string_view key, std::string_view value);
    json_line& number(std::string_view key, double value);
    template <std::integral Number>
    json_line& number(std::string_view key, Number value) {
        start(key);
        m_out += std::to_string(value);
        return *this;
    }

    std::string take() { return std::move(m_out); }

private:
    void start(std::string_view key);
    void quote(std::string_view value);

    std::string m_out;
};

/// An answer begins with protocol, version, number and name of the program, and ends with a line.
json_line begin_answer();
std::string finish(json_line& json);

}  // namespace quern::detail
