// SPDX-License-Identifier: BSL-1.0
// The map of a domain: exact matches by a hash, overlaps by splitting fragments. README.md, "The
// map".
#include <quern/dependences/detail/region_map.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace quern::detail {

namespace {

/// What an access of that kind waits for in a fragment.
const access_set& predecessors(const fragment& f, access_kind kind) noexcept {
    return f.kind == kind && is_shared(kind) ? f.before : f.current;
}

}  // namespace

// -- sets of accesses --------------------------------------------------------------------------

access_set::access_set(const access_set& other) : access_set() {
    for (access_record* const each : other) {
        add(*each);
    }
}

access_set::~access_set() {
    clear();
    if (m_capacity != k_inside) {
        delete[] m_outside;
    }
}

void access_set::swap(access_set& other) noexcept {
    static_assert(sizeof(m_inside) >= sizeof(m_outside));
    std::swap(m_size, other.m_size);
    std::swap(m_capacity, other.m_capacity);
    std::swap(m_inside, other.m_inside);  // the bytes of either
}

void access_set::add(access_record& one) {
    if (m_size == m_capacity) {
        remove_released();
        if (m_size > m_capacity / 2) {
            grow();
        }
    }
    data()[m_size++] = &one;
    one.task.add_map_reference();
}

void access_set::grow() {
    const std::uint32_t room = 4 * m_capacity;
    auto** const larger = new access_record*[room];
    std::copy(begin(), end(), larger);
    if (m_capacity != k_inside) {
        delete[] m_outside;
    }
    m_outside = larger;
    m_capacity = room;
}

/// A task that comes later need not wait for them.
void access_set::remove_released() noexcept {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < m_size; ++i) {
        access_record* const each = data()[i];
        if (each->successors.is_released()) {
            each->task.drop_map_reference();
        } else {
            data()[kept++] = each;
        }
    }
    m_size = kept;
}

void access_set::clear() noexcept {
    for (std::uint32_t i = 0; i < m_size; ++i) {
        data()[i]->task.drop_map_reference();
    }
    m_size = 0;
}

// -- the hash of exact regions -----------------------------------------------------------------

std::size_t region_map::exact_table::place_of(std::uintptr_t begin,
                                              std::size_t bytes) const noexcept {
    constexpr std::uint64_t k_multiplier = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
    const std::uint64_t mixed = (begin ^ (std::uint64_t{bytes} << 40)) * k_multiplier;
    return (mixed ^ (mixed >> 32)) & (m_slots.size() - 1);
}

fragment* region_map::exact_table::find(std::uintptr_t begin, std::size_t bytes) const noexcept {
    if (m_slots.empty()) {
        return nullptr;
    }
    for (std::size_t at = place_of(begin, bytes); m_slots[at] != nullptr;
         at = (at + 1) & (m_slots.size() - 1)) {
        fragment& f = *m_slots[at];
        if (f.begin == begin && f.bytes == bytes) {
            return &f;
        }
    }
    return nullptr;
}

void region_map::exact_table::reserve_one() {
    constexpr std::size_t k_first = 16;
    if (2 * (m_used + 1) <= m_slots.size()) {
        return;
    }
    std::vector<fragment*> larger(std::max(k_first, 2 * m_slots.size()), nullptr);
    larger.swap(m_slots);
    m_used = 0;
    for (fragment* const each : larger) {
        if (each != nullptr) {
            insert(*each);
        }
    }
}

void region_map::exact_table::insert(fragment& f) noexcept {
    std::size_t at = place_of(f.begin, f.bytes);
    while (m_slots[at] != nullptr) {
        at = (at + 1) & (m_slots.size() - 1);
    }
    m_slots[at] = &f;
    ++m_used;
}

void region_map::exact_table::erase(const fragment& f) noexcept {
    const std::size_t mask = m_slots.size() - 1;
    std::size_t hole = place_of(f.begin, f.bytes);
    while (m_slots[hole] != &f) {
        hole = (hole + 1) & mask;
    }
    for (std::size_t at = (hole + 1) & mask; m_slots[at] != nullptr; at = (at + 1) & mask) {
        const std::size_t wanted = place_of(m_slots[at]->begin, m_slots[at]->bytes);
        if (((at - wanted) & mask) >= ((at - hole) & mask)) {  // it may stand in the hole
            m_slots[hole] = m_slots[at];
            hole = at;
        }
    }
    m_slots[hole] = nullptr;
    --m_used;
}

void region_map::exact_table::clear() noexcept {
    m_slots.clear();
    m_used = 0;
}

// -- links -------------------------------------------------------------------------------------

void region_map::link_after(const fragment& f, access_kind kind, const dependent_task* except,
                            dependence_target& target, access_record* with_link,
                            std::uint32_t& links) {
    for (access_record* const each : predecessors(f, kind)) {
        if (&each->task != except && each->precede(target, with_link)) {
            ++links;
        }
    }
}

void region_map::join(fragment& f, access_record& access, std::uint32_t& links) {
    f.before.remove_released();
    link_after(f, access.kind, &access.task, access.task, &access, links);
    if (f.kind != access.kind || !is_shared(access.kind)) {
        f.before.clear();
        f.before.swap(f.current);
        if (!is_shared(access.kind)) {
            f.before.clear();  // nothing can join a write
        }
        f.kind = access.kind;
    }
    f.current.add(access);
}

template <class F>
void region_map::for_each_overlapping(const region& wanted, F call) const {
    if (wanted.bytes == 0) {
        if (const auto found = m_sentinels.find(wanted.begin); found != m_sentinels.end()) {
            call(found->second);
        }
        return;
    }
    if (const fragment* const exact = m_exact.find(wanted.begin, wanted.bytes)) {
        call(*exact);
        return;
    }
    auto at = m_ordered.upper_bound(wanted.begin);
    if (at != m_ordered.begin()) {
        const fragment& earlier = std::prev(at)->second;
        if (wanted.begin - earlier.begin < earlier.bytes) {
            --at;
        }
    }
    for (; at != m_ordered.end() && at->first < wanted.begin + wanted.bytes; ++at) {
        call(at->second);
    }
}

void region_map::link(const region& wanted, dependence_target& target, std::uint32_t& links) const {
    for_each_overlapping(wanted, [&](const fragment& f) {
        link_after(f, wanted.kind, nullptr, target, nullptr, links);
    });
}

void region_map::link_to_users(access_record& target, std::uint32_t& links) const {
    for_each_overlapping(target, [&](const fragment& f) {
        for (access_record* const each : f.current) {
            if (each->precede(target, &target)) {
                ++links;
            }
        }
    });
}

// -- entering ----------------------------------------------------------------------------------

void region_map::enter(access_record& access, std::uint32_t& links) {
    if (++m_entered >= m_forget_at) {
        forget_released();
    }
    if (fragment* const exact = m_exact.find(access.begin, access.bytes)) {
        join(*exact, access, links);
        return;
    }
    if (fragments() >= m_clean_at) {
        remove_unused();
    }
    if (access.bytes == 0) {
        join(add_sentinel(access.begin), access, links);
    } else {
        enter_overlapping(access, links);
    }
}

fragment& region_map::add_sentinel(std::uintptr_t at) {
    m_exact.reserve_one();
    fragment& made = m_sentinels[at];
    made.begin = at;
    m_exact.insert(made);
    return made;
}

fragment& region_map::add_fragment(std::uintptr_t begin, std::size_t bytes) {
    m_exact.reserve_one();
    fragment& made = m_ordered[begin];
    made.begin = begin;
    made.bytes = bytes;
    m_exact.insert(made);
    return made;
}

/// Splits the fragment, which contains `at`; returns the part that begins there.
region_map::ordered::iterator region_map::split(ordered::iterator f, std::uintptr_t at) {
    m_exact.reserve_one();
    fragment& first = f->second;
    const std::size_t left = at - first.begin;
    fragment copy{.begin = at,
                  .bytes = first.bytes - left,
                  .kind = first.kind,
                  .current = first.current,
                  .before = first.before};
    const auto second = m_ordered.emplace_hint(std::next(f), at, std::move(copy));
    m_exact.erase(first);
    first.bytes = left;
    m_exact.insert(first);
    m_exact.insert(second->second);
    return second;
}

/// Not exactly a fragment: enters the access into each part, made by splitting at its ends and by
/// filling gaps.
void region_map::enter_overlapping(access_record& access, std::uint32_t& links) {
    const std::uintptr_t end = access.begin + access.bytes;
    auto at = m_ordered.upper_bound(access.begin);
    if (at != m_ordered.begin()) {
        const auto earlier = std::prev(at);
        if (access.begin - earlier->first < earlier->second.bytes) {
            at = earlier->first < access.begin ? split(earlier, access.begin) : earlier;
        }
    }
    bool is_one = true;
    for (std::uintptr_t from = access.begin; from < end;) {
        const bool is_gap = at == m_ordered.end() || at->first > from;
        if (is_gap) {
            const std::uintptr_t to = at == m_ordered.end() ? end : std::min(end, at->first);
            join(add_fragment(from, to - from), access, links);
            from = to;
        } else {
            if (end - from < at->second.bytes) {
                split(at, end);
            }
            join(at->second, access, links);
            from += at->second.bytes;
            ++at;
        }
        is_one = is_one && from == end;
    }
    if (!is_one && !is_shared(access.kind)) {
        merge_all(access);
    }
}

/// All parts of a write have the same state: they become one fragment, so that the next access to
/// the same region is exact.
void region_map::merge_all(access_record& access) noexcept {
    const auto first = m_ordered.find(access.begin);
    m_exact.erase(first->second);
    auto at = std::next(first);
    while (at != m_ordered.end() && at->first - access.begin < access.bytes) {
        m_exact.erase(at->second);
        at = m_ordered.erase(at);
    }
    first->second.bytes = access.bytes;
    m_exact.insert(first->second);
}

/// Removes the fragments that no later access can wait for. Its cost is spread over the fragments
/// that were added since the last time.
void region_map::remove_unused() noexcept {
    constexpr std::size_t k_least = 1024;
    const auto remove_from = [this](ordered& all) {
        for (auto at = all.begin(); at != all.end();) {
            fragment& f = at->second;
            f.current.remove_released();
            if (!f.current.empty()) {
                ++at;
                continue;
            }
            m_exact.erase(f);
            at = all.erase(at);
        }
    };
    remove_from(m_ordered);
    remove_from(m_sentinels);
    m_clean_at = std::max(k_least, 2 * fragments());
}

/// Drops references to tasks that no later access can wait for: the memory of many readers of data
/// that are not accessed again. The cost is spread over the accesses since the last time.
void region_map::forget_released() noexcept {
    constexpr std::size_t k_least = 1024;
    std::size_t kept = fragments();
    const auto forget_in = [&kept](ordered& all) {
        for (auto& [begin, f] : all) {
            f.before.remove_released();
            f.current.remove_released();
            kept += f.before.size() + f.current.size();
        }
    };
    forget_in(m_ordered);
    forget_in(m_sentinels);
    m_entered = 0;
    m_forget_at = std::max(k_least, 4 * kept);
}

void region_map::clear() noexcept {
    m_exact.clear();
    m_ordered.clear();
    m_sentinels.clear();
}

}  // namespace quern::detail
