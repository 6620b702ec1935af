// SPDX-License-Identifier: BSL-1.0
// Counts waits, on the worker that resumes the task.
#include "record/wait_table.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <string_view>

namespace quern::trace::detail {

namespace {

/// Capturing a call chain takes 2 to 5 us: a few percent of this.
constexpr double k_between_looks_ns = 100'000;

/// Maximum number of distinct lines per row. (guessed)
constexpr std::size_t k_most_places = 64;

/// The kind is the part before the colon: "a time" of "a time: it sleeps".
std::string_view short_name(const quern::detail::wait_kind& kind) noexcept {
    const std::string_view name = kind.name;
    return name.substr(0, name.find(':'));
}

/// In the place of an address: never null.
const void* hash_of(std::string_view words) noexcept {
    return reinterpret_cast<const void*>(std::hash<std::string_view>()(words) | 1U);  // NOLINT
}

}  // namespace

wait_table::wait_table() {
    m_all.reserve(16);
    m_all.push_back({.kind = "(other waits)"});
}

std::uint16_t wait_table::look_up(const key& wanted, const words& apart) {
    if (const auto known = m_index.find(wanted); known != m_index.end()) {
        return known->second;
    }
    if (m_all.size() == k_most) {
        return k_others;
    }
    const auto index = static_cast<std::uint16_t>(m_all.size());
    const bool by_words = wanted.thing != nullptr && apart[0] != '\0';
    m_all.push_back({.kind = std::string(short_name(*wanted.kind)) +
                             (by_words ? " " + std::string(apart.data()) : ""),
                     .is_lock = wanted.kind->is_lock,
                     .thing = by_words ? nullptr : wanted.thing,
                     .site = wanted.site});
    m_index.emplace(wanted, index);
    return index;
}

/// If the table is half full, new objects are counted together by kind.
std::uint16_t wait_table::find(const key& wanted, const words& apart) noexcept {
    if (m_last != k_others && wanted == m_last_key) {
        return m_last;
    }
    try {
        const bool has_room = m_all.size() < k_most / 2 || m_index.contains(wanted);
        m_last_key = wanted;
        m_last = look_up(has_room ? wanted : key{wanted.kind, nullptr, wanted.site}, apart);
    } catch (const std::bad_alloc&) {
        m_last = k_others;
    }
    return m_last;
}

std::pair<std::uint16_t, bool> wait_table::add(const task_wait& wait, std::uint16_t site) noexcept {
    static const tick_count between = quern::detail::ticks_of_ns(k_between_looks_ns);
    words apart{};
    const void* thing = wait.why.kind->is_passing ? nullptr : wait.why.thing;
    if (wait.why.kind->tell_apart != nullptr) {
        wait.why.kind->tell_apart(wait.why.thing, apart);
        thing = apart[0] != '\0' ? hash_of(apart.data()) : nullptr;
    }
    const std::uint16_t index = find({wait.why.kind, thing, site}, apart);
    wait_count& row = m_all[index];
    const tick_count length = wait.end - wait.begin;
    row.all.add(length);
    row.unplaced.add(length);
    return {index, index != k_others && (row.places.empty() || row.unplaced.total >= between)};
}

void wait_table::place(std::uint16_t index, const quern::detail::call_chain& calls) noexcept {
    wait_count& row = m_all[index];
    const auto known = std::find_if(row.places.begin(), row.places.end(),
                                    [&](const auto& each) { return each.first == calls; });
    if (known != row.places.end()) {
        known->second.merge(std::exchange(row.unplaced, {}));
        return;
    }
    if (row.places.size() == k_most_places) {
        row.places.back().second.merge(std::exchange(row.unplaced, {}));
        return;
    }
    try {
        const bool is_last = row.places.size() + 1 == k_most_places;  // collects all further lines
        row.places.emplace_back(is_last ? quern::detail::call_chain{} : calls, row.unplaced);
        row.unplaced = {};
    } catch (const std::bad_alloc&) {
        return;  // the next one may succeed
    }
}

}  // namespace quern::trace::detail
