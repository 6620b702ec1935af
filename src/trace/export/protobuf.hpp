// SPDX-License-Identifier: BSL-1.0
// The part of the protobuf wire format that a trace needs: varints, eight bytes, text, and nested
// messages. A message is built in memory and then written with its length before it.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace quern::trace::detail {

inline constexpr int k_longest_varint = 10;

/// Seven bits per byte, the lowest first; the highest bit is set if more bytes follow.
inline void append_varint(std::string& to, std::uint64_t value) {
    char bytes[k_longest_varint];
    std::size_t count = 0;
    while (value >= 0x80) {
        bytes[count++] = static_cast<char>(value | 0x80);
        value >>= 7U;
    }
    bytes[count++] = static_cast<char>(value);
    to.append(bytes, count);
}

class message {
public:
    message& number(std::uint32_t field, std::uint64_t value) {
        append_varint(m_bytes, std::uint64_t{field} << 3U | k_varint);
        append_varint(m_bytes, value);
        return *this;
    }
    message& fixed(std::uint32_t field, std::uint64_t value) {
        append_varint(m_bytes, std::uint64_t{field} << 3U | k_eight_bytes);
        for (unsigned i = 0; i < 8; ++i) {
            m_bytes.push_back(static_cast<char>(value >> (8 * i) & 0xff));
        }
        return *this;
    }
    message& real(std::uint32_t field, double value) {
        return fixed(field, std::bit_cast<std::uint64_t>(value));
    }
    message& text(std::uint32_t field, std::string_view value) {
        append_varint(m_bytes, std::uint64_t{field} << 3U | k_bytes);
        append_varint(m_bytes, value.size());
        m_bytes.append(value);
        return *this;
    }
    /// A field as it stands in another message.
    message& raw(std::string_view field) {
        m_bytes.append(field);
        return *this;
    }
    message& part(std::uint32_t field, const message& inner) { return text(field, inner.m_bytes); }

    const std::string& bytes() const noexcept { return m_bytes; }
    void clear() noexcept { m_bytes.clear(); }

private:
    static constexpr std::uint64_t k_varint = 0, k_eight_bytes = 1, k_bytes = 2;

    std::string m_bytes;
};

}  // namespace quern::trace::detail
