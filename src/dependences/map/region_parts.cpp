// SPDX-License-Identifier: BSL-1.0
// The map of a domain: how fragments are divided at the ends of an access, and merged again.
// README.md, "The map".
#include <quern/dependences/detail/region_map.hpp>

#include "map/overlap.hpp"
#include "map/overlapping_fragments.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <new>
#include <utility>

namespace quern::detail {

namespace {

/// Whether the rows of `r`, in its dimensions up to `dimension` and moved to `begin`, have a byte
/// of [from, to).
bool has_bytes_of(const strided_region& r, std::size_t dimension, std::uintptr_t begin,
                  std::uintptr_t from, std::uintptr_t to) noexcept {
    if (dimension == 0) {
        return begin < to && from < begin + r.bytes;
    }
    const strides::dimension& at = r.shape->outer[dimension - 1];
    std::size_t inner = r.bytes;
    for (std::size_t i = 0; i + 1 < dimension; ++i) {
        inner += (r.shape->outer[i].count - 1) * r.shape->outer[i].distance;
    }
    if (at.count == 1) {
        return has_bytes_of(r, dimension - 1, begin, from, to);
    }
    if (to <= begin) {
        return false;
    }
    // Those that begin before `to` and end after `from`.
    const std::size_t last = std::min((to - 1 - begin) / at.distance, at.count - 1);
    const std::size_t first = from < begin + inner ? 0 : (from - begin - inner) / at.distance + 1;
    if (first > last) {
        return false;
    }
    if (last - first >= 2) {
        return true;  // all of the second one lies within
    }
    for (std::size_t i = first; i <= last; ++i) {
        if (has_bytes_of(r, dimension - 1, begin + i * at.distance, from, to)) {
            return true;
        }
    }
    return false;
}

bool has_bytes_of(const strided_region& r, std::uintptr_t from, std::uintptr_t to) noexcept {
    return has_bytes_of(r, r.shape != nullptr ? strides::k_most : 0, r.begin, from, to);
}

}  // namespace

bool overlap(const strided_region& a, const strided_region& b) noexcept {
    if (a.bytes == 0 || b.bytes == 0 || a.begin >= b.begin + extent_of(b) ||
        b.begin >= a.begin + extent_of(a)) {
        return false;
    }
    const std::size_t rows_of_a = a.shape != nullptr ? a.shape->rows() : 1;
    const std::size_t rows_of_b = b.shape != nullptr ? b.shape->rows() : 1;
    const strided_region& few = rows_of_a <= rows_of_b ? a : b;
    const strided_region& many = rows_of_a <= rows_of_b ? b : a;
    bool found = false;
    for_each_row(few, [&](std::uintptr_t begin) {
        found = found || has_bytes_of(many, begin, begin + few.bytes);
    });
    return found;
}

// -- dividing ----------------------------------------------------------------------------------

fragment& region_map::add_strided(const access_record& access) {
    auto shape = std::make_unique<const strides>(*access.shape);
    fragment& made = m_strided[access.begin];
    made.begin = access.begin;
    made.bytes = access.bytes;
    made.shape = std::move(shape);
    m_exact.insert(made);
    m_longest = std::max(m_longest, extent_of(access));
    return made;
}

fragment& region_map::add_row(std::uintptr_t begin, std::size_t bytes) {
    m_exact.reserve(1);
    fragment& made = m_ordered[begin];
    made.begin = begin;
    made.bytes = bytes;
    m_exact.insert(made);
    return made;
}

/// The same for a part of it. Commutative accesses of a part exclude each other alone, and those of
/// the whole before it.
fragment region_map::part_of(const fragment& whole, std::uintptr_t begin, std::size_t bytes) const {
    fragment part{.begin = begin,
                  .bytes = bytes,
                  .shape = nullptr,
                  .kind = whole.kind,
                  .last_writer = whole.last_writer,
                  .operation = whole.operation,
                  .current = whole.current,
                  .before = whole.before,
                  .lock = nullptr};
    if (whole.lock != nullptr) {
        part.lock = std::make_shared<commutative_lock>();
        for (const commutative_lock::higher& each : whole.lock->above) {
            if (needs_lock(region{begin, bytes}, *each.of)) {
                part.lock->above.push_back(each);
            }
        }
        part.lock->above.push_back({whole.lock, false});
    }
    return part;
}

/// Divides the fragment, which contains `at`; returns the part that begins there.
region_map::ordered::iterator region_map::split(ordered::iterator f, std::uintptr_t at) {
    m_exact.reserve(1);
    fragment& first = f->second;
    const std::size_t left = at - first.begin;
    fragment rest = part_of(first, first.begin, left);
    const auto second =
        m_ordered.emplace_hint(std::next(f), at, part_of(first, at, first.bytes - left));
    m_exact.erase(first);
    first.bytes = left;
    first.lock = std::move(rest.lock);
    m_exact.insert(first);
    m_exact.insert(second->second);
    return second;
}

/// Divides a fragment of several rows into its rows.
void region_map::expand(ordered::iterator strided) {
    const fragment& whole = strided->second;
    ordered rows;
    whole.shape->for_each_row(whole.begin, [&](std::uintptr_t begin) {
        rows.emplace_hint(rows.end(), begin, part_of(whole, begin, whole.bytes));
    });
    m_exact.reserve(rows.size());
    m_exact.erase(whole);
    m_strided.erase(strided);
    for (auto& [begin, row] : rows) {
        m_exact.insert(row);
    }
    m_ordered.merge(rows);
}

/// Fills m_parts: the access is exactly these fragments, which are made by division at its ends and
/// by filling gaps.
void region_map::find_parts(const access_record& access) {
    for_each_strided(access, [this](ordered::const_iterator f) {
        expand(m_strided.erase(f, f));  // the same place, to be changed
    });
    for_each_row(access, [&](std::uintptr_t begin) { find_parts_of_row(begin, access.bytes); });
}

void region_map::find_parts_of_row(std::uintptr_t begin, std::size_t bytes) {
    const std::uintptr_t end = begin + bytes;
    auto at = m_ordered.upper_bound(begin);
    if (at != m_ordered.begin()) {
        const auto earlier = std::prev(at);
        if (begin - earlier->first < earlier->second.bytes) {
            at = earlier->first < begin ? split(earlier, begin) : earlier;
        }
    }
    for (std::uintptr_t from = begin; from < end;) {
        const bool is_gap = at == m_ordered.end() || at->first > from;
        if (is_gap) {
            const std::uintptr_t to = at == m_ordered.end() ? end : std::min(end, at->first);
            m_parts.push_back(&add_row(from, to - from));
            from = to;
        } else {
            if (end - from < at->second.bytes) {
                split(at, end);
            }
            m_parts.push_back(&at->second);
            from += at->second.bytes;
            ++at;
        }
    }
}

// -- merging -----------------------------------------------------------------------------------

/// When all parts have the same state, as after a write, they become one fragment, so that the next
/// access to the same region is exact. Without memory they stay as they are.
void region_map::merge_parts(const access_record& access) noexcept {
    fragment& first = *m_parts.front();
    std::unique_ptr<const strides> shape;
    if (access.shape != nullptr) {
        shape.reset(new (std::nothrow) const strides(*access.shape));
        if (shape == nullptr) {
            return;
        }
    }
    if (!std::all_of(m_parts.begin() + 1, m_parts.end(),
                     [&](const fragment* each) { return each->has_state_of(first); })) {
        return;
    }
    for (auto each = m_parts.begin() + 1; each != m_parts.end(); ++each) {
        m_exact.erase(**each);
        m_ordered.erase((*each)->begin);
    }
    m_exact.erase(first);
    first.bytes = access.bytes;
    if (shape != nullptr) {
        first.shape = std::move(shape);
        m_strided.insert(m_ordered.extract(first.begin));
        m_longest = std::max(m_longest, extent_of(access));
    }
    m_exact.insert(first);
}

}  // namespace quern::detail
