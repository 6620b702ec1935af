// SPDX-License-Identifier: BSL-1.0
// Text composed in place, for reports that are written when the heap may be corrupt. It never
// allocates and never fails: excess text is cut off and replaced by an ellipsis.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace quern::detail {

class fixed_text {
public:
    fixed_text& add(std::string_view piece) noexcept {
        const std::size_t fits = std::min(piece.size(), k_capacity - m_size);
        std::copy_n(piece.data(), fits, m_chars.data() + m_size);
        m_size += fits;
        if (fits < piece.size()) {
            std::copy_n(k_cut.data(), k_cut.size(), m_chars.data() + k_capacity - k_cut.size());
        }
        return *this;
    }

    fixed_text& add(std::uint64_t number, int base = 10) noexcept {
        std::array<char, 24> digits{};  // more than the digits of 2^64
        const auto end = std::to_chars(digits.begin(), digits.end(), number, base).ptr;
        return add(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
    }

    fixed_text& add_address(const void* address) noexcept {
        constexpr int k_hexadecimal = 16;
        return add("0x").add(reinterpret_cast<std::uintptr_t>(address), k_hexadecimal);
    }

    std::string_view view() const noexcept { return {m_chars.data(), m_size}; }
    void clear() noexcept { m_size = 0; }

private:
    static constexpr std::size_t k_capacity = 2048;  // a line with a long name
    static constexpr std::string_view k_cut = "...\n";

    std::array<char, k_capacity> m_chars;
    std::size_t m_size = 0;
};

}  // namespace quern::detail
