// SPDX-License-Identifier: BSL-1.0
// The parser: recursive descent, one function for each kind of value.
#include "json_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace quern::tool {

class json_parser {
public:
    explicit json_parser(std::string_view text) : m_text(text) {}

    json_value document() {
        json_value value = any(0);
        skip_blanks();
        if (m_at != m_text.size()) {
            fail("the end");
        }
        return value;
    }

private:
    static constexpr int k_deepest = 64;  // levels; our answers have eight

    [[noreturn]] void fail(std::string_view expected) const {
        throw json_error(fmt::format("no JSON: {} is expected at byte {}", expected, m_at));
    }

    void skip_blanks() {
        m_at = std::min(m_text.find_first_not_of(" \t\r\n", m_at), m_text.size());
    }

    bool take(char c) {
        const bool is_here = m_at < m_text.size() && m_text[m_at] == c;
        m_at += is_here ? 1 : 0;
        return is_here;
    }

    void expect(char c) {
        if (!take(c)) {
            fail(fmt::format("'{}'", c));
        }
    }

    bool take(std::string_view word) {
        const bool is_here = m_text.substr(m_at, word.size()) == word;
        m_at += is_here ? word.size() : 0;
        return is_here;
    }

    json_value any(int depth) {
        if (depth > k_deepest) {
            fail("less depth");
        }
        skip_blanks();
        json_value value;
        if (take('{')) {
            object(value, depth);
        } else if (take('[')) {
            array(value, depth);
        } else if (take('"')) {
            value.m_type = json_value::type::text;
            value.m_text = rest_of_text();
        } else if (take("true") || take("false")) {
            value.m_type = json_value::type::boolean;
            value.m_number = m_text[m_at - 2] == 'u' ? 1 : 0;
        } else if (!take("null")) {
            number(value);
        }
        return value;
    }

    void object(json_value& into, int depth) {
        into.m_type = json_value::type::object;
        skip_blanks();
        if (take('}')) {
            return;
        }
        do {
            skip_blanks();
            expect('"');
            into.m_keys.push_back(rest_of_text());
            skip_blanks();
            expect(':');
            into.m_items.push_back(any(depth + 1));
            skip_blanks();
        } while (take(','));
        expect('}');
    }

    void array(json_value& into, int depth) {
        into.m_type = json_value::type::array;
        skip_blanks();
        if (take(']')) {
            return;
        }
        do {
            into.m_items.push_back(any(depth + 1));
            skip_blanks();
        } while (take(','));
        expect(']');
    }

    void number(json_value& into) {
        into.m_type = json_value::type::number;
        const char* const begin = m_text.data() + m_at;
        const auto [end, error] =
            std::from_chars(begin, m_text.data() + m_text.size(), into.m_number);
        if (error != std::errc{}) {
            fail("a value");
        }
        m_at += static_cast<std::size_t>(end - begin);
    }

    std::string rest_of_text() {
        std::string text;
        while (!take('"')) {
            if (m_at == m_text.size()) {
                fail("'\"'");
            }
            const char c = m_text[m_at++];
            text += c == '\\' ? escaped() : std::string(1, c);
        }
        return text;
    }

    std::string escaped() {
        constexpr std::string_view k_letters = "\"\\/bfnrt";
        constexpr std::string_view k_meanings = "\"\\/\b\f\n\r\t";
        const char c = m_at < m_text.size() ? m_text[m_at++] : '\0';
        if (c == 'u') {
            return unicode();
        }
        const std::size_t which = k_letters.find(c);
        if (which == std::string_view::npos) {
            fail("an escape sequence");
        }
        return {k_meanings[which]};
    }

    /// As UTF-8. Pairs of surrogates, which our programs do not write, become two '?'.
    std::string unicode() {
        unsigned code = 0;
        const std::string_view digits = m_text.substr(m_at, 4);
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        if (error != std::errc{} || end != digits.data() + 4) {
            fail("four hexadecimal digits");
        }
        m_at += 4;
        if (code < 0x80) {
            return {static_cast<char>(code)};
        }
        if (code < 0x800) {
            return {static_cast<char>(0xc0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3f))};
        }
        if (code >= 0xd800 && code < 0xe000) {
            return "?";
        }
        return {static_cast<char>(0xe0 | (code >> 12)),
                static_cast<char>(0x80 | ((code >> 6) & 0x3f)),
                static_cast<char>(0x80 | (code & 0x3f))};
    }

    std::string_view m_text;
    std::size_t m_at = 0;
};

json_value json_value::parse(std::string_view text) { return json_parser(text).document(); }

const json_value& json_value::at(std::string_view key) const noexcept {
    static const json_value k_nothing;
    const auto found = std::find(m_keys.begin(), m_keys.end(), key);
    return found == m_keys.end() ? k_nothing
                                 : m_items[static_cast<std::size_t>(found - m_keys.begin())];
}

}  // namespace quern::tool
