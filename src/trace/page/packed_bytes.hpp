// SPDX-License-Identifier: BSL-1.0
// Compact encoding of many small numbers for the page: variable-length bytes (seven bits each,
// lowest first), then base64. Read by page/data.js. Private to the layer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace quern::trace::detail {

class packed_bytes {
public:
    void byte(std::uint8_t value) { m_bytes.push_back(static_cast<char>(value)); }

    void number(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) {
            byte(static_cast<std::uint8_t>(value | 0x80));
        }
        byte(static_cast<std::uint8_t>(value));
    }

    /// A signed difference: 0, -1, 1, -2, 2, … are written as 0, 1, 2, 3, 4, …
    void difference(std::uint64_t from, std::uint64_t to) {
        number(to >= from ? 2 * (to - from) : 2 * (from - to) - 1);
    }

    std::size_t base64_size() const noexcept { return (m_bytes.size() + 2) / 3 * 4; }

    std::string base64() const {
        constexpr std::string_view k_letters =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        std::string out;
        out.reserve(base64_size());
        for (std::size_t i = 0; i < m_bytes.size(); i += 3) {
            const std::uint32_t three = (at(i) << 16) | (at(i + 1) << 8) | at(i + 2);
            for (int shift = 18; shift >= 0; shift -= 6) {
                out.push_back(k_letters[(three >> shift) & 63]);
            }
        }
        const std::size_t rest = m_bytes.size() % 3;
        if (rest != 0) {
            out.replace(out.size() - (3 - rest), 3 - rest, 3 - rest, '=');
        }
        return out;
    }

private:
    std::uint32_t at(std::size_t i) const {
        return i < m_bytes.size() ? static_cast<unsigned char>(m_bytes[i]) : 0u;
    }

    std::string m_bytes;
};

}  // namespace quern::trace::detail
