// SPDX-License-Identifier: BSL-1.0
// What LAPACK writes as integers of the library's width.
#pragma once

#include "blas/functions.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace quern::arrays::detail {

/// What LAPACK has written as an int or a 64-bit one.
inline std::int32_t info_of(std::int64_t written) noexcept {
    return static_cast<std::int32_t>(written);
}

/// Indices of rows from 1.
class pivots {
public:
    pivots(const blas& library, std::int64_t count)
        : m_bits(library.info.integer_bits), m_words(static_cast<std::size_t>(count) + 1u) {}

    std::int64_t* data() noexcept { return m_words.data(); }

    std::int64_t operator[](std::int64_t i) const noexcept {
        if (m_bits == 64) return m_words[static_cast<std::size_t>(i)];
        std::int32_t found = 0;
        std::memcpy(&found, reinterpret_cast<const std::byte*>(m_words.data()) + i * 4, 4);
        return found;
    }

private:
    int m_bits;
    std::vector<std::int64_t> m_words;
};

}  // namespace quern::arrays::detail
