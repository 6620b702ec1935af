// SPDX-License-Identifier: BSL-1.0
// How a map finds the fragments that overlap with a region. Part of region_map's sources.
#pragma once

#include <quern/dependences/detail/region_map.hpp>

#include "map/overlap.hpp"

#include <algorithm>
#include <iterator>

namespace quern::detail {

/// Calls call(iterator) for each fragment of several rows that overlaps.
template <class F>
void region_map::for_each_strided(const strided_region& wanted, F call) const {
    if (m_strided.empty()) {
        return;
    }
    const std::uintptr_t end = wanted.begin + extent_of(wanted);
    const std::uintptr_t from = wanted.begin - std::min(wanted.begin, m_longest);
    for (auto at = m_strided.lower_bound(from); at != m_strided.end() && at->first < end;) {
        const auto here = at++;  // the call may remove it
        const fragment& f = here->second;
        if (overlap({{f.begin, f.bytes}, f.shape.get()}, wanted)) {
            call(here);
        }
    }
}

template <class F>
void region_map::for_each_overlapping(const strided_region& wanted, F call) const {
    if (const fragment* const exact = m_exact.find(wanted)) {
        call(*exact);
        return;
    }
    if (wanted.bytes == 0) {
        return;
    }
    const fragment* last = nullptr;  // one fragment may contain several rows
    for_each_row(wanted, [&](std::uintptr_t begin) {
        auto at = m_ordered.upper_bound(begin);
        if (at != m_ordered.begin()) {
            const fragment& earlier = std::prev(at)->second;
            if (begin - earlier.begin < earlier.bytes) {
                --at;
            }
        }
        for (; at != m_ordered.end() && at->first < begin + wanted.bytes; ++at) {
            if (&at->second != last) {
                last = &at->second;
                call(at->second);
            }
        }
    });
    for_each_strided(wanted, [&](ordered::const_iterator f) { call(f->second); });
}

}  // namespace quern::detail
