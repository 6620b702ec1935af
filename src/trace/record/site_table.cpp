// SPDX-License-Identifier: BSL-1.0
// Looks up a task's kind: by the addresses of name and place in a small cache, then by their
// contents.
#include "record/site_table.hpp"

#include <new>

namespace quern::trace::detail {

namespace {

constexpr std::size_t k_longest_name = 200;  ///< characters kept (guessed)

/// Only the beginning of a long name counts.
std::string_view beginning_of(const char* name) noexcept {
    std::size_t length = 0;
    while (length < k_longest_name && name[length] != '\0') {
        ++length;
    }
    return {name, length};
}

const void* entry_of(const task_record& task) noexcept {
    return reinterpret_cast<const void*>(
        static_cast<quern::detail::work::run_function>(task.entry));
}

}  // namespace

void site_count::merge(const site_count& other) noexcept {
    time.merge(other.time);
    phases += other.phases;
    suspensions += other.suspensions;
    inlined += other.inlined;
    stolen += other.stolen;
    waited += other.waited;
    blocked_ns += other.blocked_ns;
    lost_ns += other.lost_ns;
    lost_error_ns += other.lost_error_ns;
    events.add(other.events);
}

site_table::site_table() {
    m_sites.reserve(16);
    m_sites.emplace_back().name = "(other kinds of tasks)";
}

std::uint16_t site_table::find(const task_record& task) noexcept {
    const char* const name = task.name;
    const bool has_place = task.site != nullptr && !task.trace.is_part;
    const void* const address = has_place ? static_cast<const void*>(task.site) : entry_of(task);
    const void* const part_of = task.trace.is_part ? static_cast<const void*>(task.site) : nullptr;
    const auto mixed =
        (reinterpret_cast<std::uintptr_t>(address) ^ reinterpret_cast<std::uintptr_t>(part_of) ^
         (reinterpret_cast<std::uintptr_t>(name) * 7));
    met& slot = m_lately[(mixed ^ (mixed >> 6)) % k_lately];
    const std::string_view text = name != nullptr ? beginning_of(name) : std::string_view();
    // The memory of a name may hold another one now.
    if (slot.address != address || slot.part_of != part_of || slot.name != name ||
        slot.index >= m_sites.size() ||
        (name != nullptr && slot.index != k_others && m_sites[slot.index].name != text)) {
        slot = {name, address, part_of, look_up(text, task, address, part_of)};
    }
    return slot.index;
}

std::uint16_t site_table::look_up(std::string_view name, const task_record& task,
                                  const void* address, const void* part_of) noexcept {
    const void* const entry = entry_of(task);
    try {
        std::string key(name);
        key.append(reinterpret_cast<const char*>(&address), sizeof address);
        key.append(reinterpret_cast<const char*>(&part_of), sizeof part_of);
        const auto found = m_index.find(key);
        if (found != m_index.end()) {
            return found->second;
        }
        if (m_sites.size() == k_most_sites) {
            return k_others;
        }
        const auto index = static_cast<std::uint16_t>(m_sites.size());
        m_sites.push_back({.name = std::string(name),
                           .address = address,
                           .is_entry = address == entry,
                           .entry = entry,
                           .is_part = task.trace.is_part,
                           .part_of = part_of});
        m_index.emplace(std::move(key), index);
        return index;
    } catch (const std::bad_alloc&) {
        return k_others;
    }
}

}  // namespace quern::trace::detail
