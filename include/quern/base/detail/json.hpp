// SPDX-License-Identifier: BSL-1.0
// Writes JSON (RFC 8259) as it goes: answers of a running program, pages, counters, commands. One
// rule for all: a number that is not finite is null, bytes that are not UTF-8 become U+FFFD, and
// markup is escaped, so that the text may stand in a script element.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/base/detail/text.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace quern::detail {

/// Calls nest as the text does: in an object every value has a key, in an array none has one.
///
///     quern::detail::json out;
///     out.open('{').fields("tasks", 3, "share", 0.5).open('[', "names").item("fib").close();
///     std::string text = out.take();
class json {
public:
    enum class layout : bool { one_line, indented };

    explicit json(layout how = layout::one_line) noexcept : m_layout(how) {}

    json& open(char bracket, std::string_view key = {});
    /// The innermost object or array.
    json& close();

    /// A number, a truth value or text.
    template <class Value>
    json& field(std::string_view key, const Value& value) {
        start(key);
        write(value);
        return *this;
    }
    /// No field where there is no value.
    template <class Value>
    json& field(std::string_view key, const std::optional<Value>& value) {
        return value ? field(key, *value) : *this;
    }
    /// Keys and values in turns.
    template <class Value, class... More>
    json& fields(std::string_view key, const Value& value, const More&... more) {
        field(key, value);
        if constexpr (sizeof...(more) != 0) {
            fields(more...);
        }
        return *this;
    }
    /// Of an array.
    template <class Value>
    json& item(const Value& value) {
        return field({}, value);
    }
    /// An array of items, on one line.
    template <class Range>
    json& list(std::string_view key, const Range& range) {
        open('[', key);
        const layout before = std::exchange(m_layout, layout::one_line);
        for (const auto& each : range) {
            item(each);
        }
        close();
        m_layout = before;
        return *this;
    }
    /// Text that needs no escape, such as base64, however long.
    json& plain(std::string_view value, std::string_view key = {});

    /// From here on a longer text ends in an ellipsis. At first there is no limit.
    json& longest(std::size_t bytes) noexcept {
        m_longest = bytes;
        return *this;
    }

    std::size_t size() const noexcept { return m_out.size(); }
    /// Closes what is open. The document with a line end.
    std::string take();

private:
    template <class Value>
    void write(const Value& value) {
        if constexpr (std::same_as<Value, bool>) {
            m_out += value ? "true" : "false";
        } else if constexpr (std::integral<Value>) {
            m_out += std::to_string(value);
        } else if constexpr (std::floating_point<Value>) {
            number(value);
        } else {
            quote(value);
        }
    }

    void start(std::string_view key);
    void number(double value);
    void quote(std::string_view text);
    void begin_line();

    layout m_layout;
    std::string m_out;
    std::string m_open;  ///< the brackets that will close
    std::size_t m_longest = std::string_view::npos;
};

}  // namespace quern::detail
