// SPDX-License-Identifier: BSL-1.0
// Regions of more than one dimension: a row of bytes, repeated at equal distances in up to three
// more dimensions.
#pragma once

#include <quern/base/detail/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace quern::detail {

/// How a row is repeated. The inner dimension comes first. Rows never overlap: each distance is at
/// least the extent of what it repeats.
struct strides {
    struct dimension {
        std::size_t count = 1;
        std::size_t distance = 0;  ///< bytes

        bool operator==(const dimension&) const = default;
    };
    static constexpr std::size_t k_most = 3;

    std::array<dimension, k_most> outer{};

    bool is_used() const noexcept { return outer[0].count != 1; }
    bool operator==(const strides&) const = default;

    std::size_t rows() const noexcept { return outer[0].count * outer[1].count * outer[2].count; }
    /// From the first byte of the first row to behind the last byte of the last one.
    std::size_t extent(std::size_t row_bytes) const noexcept {
        std::size_t all = row_bytes;
        for (const dimension& each : outer) {
            all += (each.count - 1) * each.distance;
        }
        return all;
    }

    /// Calls call(begin) for each row, in the order of addresses.
    template <class F>
    void for_each_row(std::uintptr_t begin, F call) const {
        for (std::size_t k = 0; k < outer[2].count; ++k) {
            for (std::size_t j = 0; j < outer[1].count; ++j) {
                for (std::size_t i = 0; i < outer[0].count; ++i) {
                    call(begin + k * outer[2].distance + j * outer[1].distance +
                         i * outer[0].distance);
                }
            }
        }
    }
};

}  // namespace quern::detail
