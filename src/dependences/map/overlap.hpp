// SPDX-License-Identifier: BSL-1.0
// Arithmetic of regions with strides.
#pragma once

#include <quern/dependences/detail/region.hpp>

#include <cstddef>
#include <cstdint>

namespace quern::detail {

inline std::size_t extent_of(const strided_region& r) noexcept {
    return r.shape != nullptr ? r.shape->extent(r.bytes) : r.bytes;
}

/// Of all rows.
inline std::size_t bytes_of(const strided_region& r) noexcept {
    return r.shape != nullptr ? r.shape->rows() * r.bytes : r.bytes;
}

template <class F>
void for_each_row(const strided_region& r, F call) {
    if (r.shape != nullptr) {
        r.shape->for_each_row(r.begin, call);
    } else {
        call(r.begin);
    }
}

/// Whether they have a byte in common.
bool overlap(const strided_region& a, const strided_region& b) noexcept;

/// The same, or both are one sentinel.
inline bool share_memory(const strided_region& a, const strided_region& b) noexcept {
    return a.bytes == 0 ? b.bytes == 0 && a.begin == b.begin : overlap(a, b);
}

}  // namespace quern::detail
