// SPDX-License-Identifier: BSL-1.0
// Reads JSON (RFC 8259), for answers of programs that `quern` looks into. Values are copied; what
// is not there reads as null, zero or empty, so that an answer of an older program can be read too.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quern::tool {

/// Text that is no JSON, and where.
struct json_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class json_value {
public:
    /// Throws json_error.
    static json_value parse(std::string_view text);

    bool is_null() const noexcept { return m_type == type::null; }
    bool is_number() const noexcept { return m_type == type::number; }
    bool is_text() const noexcept { return m_type == type::text; }

    /// The value of a key of an object; null where there is none.
    const json_value& at(std::string_view key) const noexcept;
    bool has(std::string_view key) const noexcept { return !at(key).is_null(); }
    /// Elements of an array; of an object the values, in its order.
    const std::vector<json_value>& items() const noexcept { return m_items; }
    /// The keys of an object, in its order.
    const std::vector<std::string>& keys() const noexcept { return m_keys; }

    double number() const noexcept { return m_number; }
    template <class Integer>
    Integer whole() const noexcept {
        return static_cast<Integer>(m_number);
    }
    const std::string& text() const noexcept { return m_text; }
    bool boolean() const noexcept { return m_number != 0; }

private:
    friend class json_parser;
    enum class type : std::uint8_t { null, boolean, number, text, array, object };

    type m_type = type::null;
    double m_number = 0;
    std::string m_text;
    std::vector<std::string> m_keys;
    std::vector<json_value> m_items;
};

}  // namespace quern::tool
