// SPDX-License-Identifier: BSL-1.0
// The hash table that finds a fragment with exactly the region of an access.
#include <quern/dependences/detail/fragment.hpp>

#include <algorithm>
#include <bit>

namespace quern::detail {

void exact_table::reserve(std::size_t more) {
    constexpr std::size_t k_first = 16;
    const std::size_t least = 2 * (m_used + more);
    if (least <= m_slots.size()) {
        return;
    }
    std::vector<slot> larger(std::max({k_first, 2 * m_slots.size(), std::bit_ceil(least)}));
    larger.swap(m_slots);
    m_used = 0;
    for (const slot& each : larger) {
        if (each.is != nullptr) {
            insert(*each.is);
        }
    }
}

void exact_table::insert(fragment& f) noexcept {
    std::size_t at = place_of(f.begin, f.bytes);
    while (m_slots[at].is != nullptr) {
        at = (at + 1) & (m_slots.size() - 1);
    }
    m_slots[at] = {f.begin, &f};
    ++m_used;
}

void exact_table::erase(const fragment& f) noexcept {
    const std::size_t mask = m_slots.size() - 1;
    std::size_t hole = place_of(f.begin, f.bytes);
    while (m_slots[hole].is != &f) {
        hole = (hole + 1) & mask;
    }
    for (std::size_t at = (hole + 1) & mask; m_slots[at].is != nullptr; at = (at + 1) & mask) {
        const std::size_t wanted = place_of(m_slots[at].begin, m_slots[at].is->bytes);
        if (((at - wanted) & mask) >= ((at - hole) & mask)) {  // it may stand in the hole
            m_slots[hole] = m_slots[at];
            hole = at;
        }
    }
    m_slots[hole] = {};
    --m_used;
}

void exact_table::clear() noexcept {
    m_slots.clear();
    m_used = 0;
}

}  // namespace quern::detail
