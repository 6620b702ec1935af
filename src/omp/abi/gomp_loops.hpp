// SPDX-License-Identifier: BSL-1.0
// What gcc's entry points for loops have in common.
#pragma once

#include "core/shares.hpp"
#include "core/team.hpp"

#include <cstdint>

namespace quern::omp {

struct chosen_schedule {
    schedule_kind kind;
    std::uint64_t chunk;
    bool keeps_order = true;
};

/// What omp_set_schedule or OMP_SCHEDULE says.
inline chosen_schedule schedule_at_runtime(bool keeps_order = true) noexcept {
    const control_values& values = *this_member().current->values;
    if (values.schedule == schedule_kind::automatic) {
        return {schedule_kind::fixed, 0};
    }
    return {values.schedule, static_cast<std::uint64_t>(values.chunk),
            keeps_order || values.is_monotonic};
}

inline first_share loop_of(bool up, unsigned long long start, unsigned long long end,
                           unsigned long long step, chosen_schedule by) noexcept {
    if (up ? start >= end : start <= end) {
        end = start;
    }
    first_share made = describe_loop(up, start, end, step, by.kind, by.chunk);
    made.keeps_order = by.keeps_order;
    return made;
}

inline first_share loop_of(long start, long end, long step, chosen_schedule by) noexcept {
    const bool up = step > 0;
    if (up ? start >= end : start <= end) {
        end = start;
    }
    first_share made =
        describe_loop(up, static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(end),
                      static_cast<std::uint64_t>(step), by.kind, by.chunk);
    made.keeps_order = by.keeps_order;
    return made;
}

template <class T>
bool next_values(T* from, T* to) noexcept {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    const bool is_one = next_chunk(this_member(), first, last);
    if (is_one) {
        *from = static_cast<T>(first);
        *to = static_cast<T>(last);
    }
    return is_one;
}

template <class T>
bool next_ordered_values(T* from, T* to) noexcept {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    const bool is_one = next_ordered_chunk(this_member(), first, last);
    if (is_one) {
        *from = static_cast<T>(first);
        *to = static_cast<T>(last);
    }
    return is_one;
}

constexpr std::uint64_t as_chunk(long chunk) noexcept {
    return chunk > 0 ? static_cast<std::uint64_t>(chunk) : 0;
}

}  // namespace quern::omp
