// SPDX-License-Identifier: BSL-1.0
// The map of a domain: links to the accesses that a new one waits for, and the state of fragments.
// README.md, "The map". How fragments are divided and merged: region_parts.cpp.
#include <quern/dependences/detail/domain_core.hpp>

#include "map/overlap.hpp"
#include "map/overlapping_fragments.hpp"

#include <algorithm>
#include <utility>

namespace quern::detail {

// -- one fragment ------------------------------------------------------------------------------

void region_map::join(fragment& f, access_record& access, new_links& links) {
    f.before.remove_released(f.last_writer);
    if (f.last_writer != k_no_writer) [[unlikely]] {
        access.last_writer = f.last_writer;
    }
    for (access_record* const each : f.predecessors(access)) {
        links.add(*each);
    }
    enter_set(f, access);
}

/// The access is one of the last accesses of the fragment from now on.
void region_map::enter_set(fragment& f, access_record& access) {
    const bool is_new_group = !f.is_joined_by(access);
    if (access.kind == access_kind::commutative) [[unlikely]] {
        auto lock = is_new_group ? lock_for(f) : f.lock;
        take_lock(f, lock, access);
        f.lock = std::move(lock);
    } else {
        f.lock.reset();
    }
    if (is_new_group) {
        f.before.clear();
        if (is_shared(access.kind)) {
            f.before.swap(f.current);
        } else {
            f.current.clear();  // nothing can join a write
        }
        f.kind = access.kind;
        f.operation = access.operation;
    }
    f.current.add(access, f.last_writer);
}

std::shared_ptr<commutative_lock> region_map::lock_for(const fragment& f) const {
    auto made = std::make_shared<commutative_lock>();
    for (const inherited_lock& each : m_inherited) {
        if (share_memory(each.where(), f.where())) {
            made->above.push_back({each.lock, each.is_alone});
        }
    }
    return made;
}

/// False: it is the lock of an outer domain, for memory with which the part does not overlap.
bool region_map::needs_lock(const strided_region& part,
                            const commutative_lock& above) const noexcept {
    bool is_inherited = false;
    for (const inherited_lock& each : m_inherited) {
        if (each.lock.get() == &above) {
            if (share_memory(each.where(), part)) {
                return true;
            }
            is_inherited = true;
        }
    }
    return !is_inherited;
}

/// A commutative task needs the lock of each of its fragments. A weak one needs none, but each of
/// its children does.
void region_map::take_lock(const fragment& f, const std::shared_ptr<commutative_lock>& its,
                           access_record& access) {
    auto& task = static_cast<dependent_task&>(access.owner);
    if (access.is_weak) {
        region_map& inner = task.own_domain().map();
        const region row = f.where();
        const strides shape = f.shape != nullptr ? *f.shape : strides();
        inner.m_inherited.push_back({row, shape, its, true});
        for (const commutative_lock::higher& each : its->above) {
            inner.m_inherited.push_back({row, shape, each.of, each.is_alone});
        }
        return;
    }
    if (task.rare().locks == nullptr) {
        task.rare().locks = std::make_unique<lock_request>(task);
    }
    task.rare().locks->need(access, its, true);
    for (const commutative_lock::higher& each : its->above) {
        task.rare().locks->need(access, each.of, each.is_alone);
    }
}

// -- looking -----------------------------------------------------------------------------------

/// No fragment overlaps.
bool region_map::is_untouched(const strided_region& wanted) const {
    bool is_free = true;
    for_each_overlapping(wanted, [&](const fragment&) { is_free = false; });
    return is_free;
}

void region_map::link(const strided_region& wanted, new_links& links) const {
    for_each_overlapping(wanted, [&](const fragment& f) {
        for (access_record* const each : f.predecessors(wanted)) {
            links.add(*each);
        }
    });
}

region_use region_map::use_of(const strided_region& wanted) const {
    region_use found = region_use::none;
    for_each_overlapping(wanted, [&found](const fragment& f) {
        if (has_unreleased(f.current)) {
            found = std::max(found,
                             f.kind == access_kind::read ? region_use::read : region_use::changed);
        }
    });
    return found;
}

void region_map::link_to_users(access_record& target, new_links& links) const {
    for_each_overlapping(target, [&](const fragment& f) {
        for (access_record* const each : f.current) {
            links.add(*each);
        }
    });
}

// -- entering ----------------------------------------------------------------------------------

/// Not exactly a fragment.
void region_map::enter_new(access_record& access, new_links& links) {
    divide(access);
    if (m_parts.size() == 1) {
        join(*m_parts.front(), access, links);
    } else {
        join_parts(access, links);
    }
}

std::span<const fragment* const> region_map::divide(const access_record& access) {
    m_parts.clear();
    if (fragment* const exact = m_exact.find(access)) {
        m_parts.push_back(exact);
        return m_parts;
    }
    if (fragments() >= m_clean_at) {
        remove_unused();
    }
    m_exact.reserve(1);
    if (access.bytes == 0) {
        fragment& made = m_sentinels[access.begin];
        made.begin = access.begin;
        m_exact.insert(made);
        m_parts.push_back(&made);
    } else if (access.shape != nullptr && is_untouched(access)) {
        m_parts.push_back(&add_strided(access));
    } else {
        find_parts(access);
    }
    return m_parts;
}

void region_map::enter_divided(access_record& access) {
    for (fragment* const part : m_parts) {
        part->before.remove_released(part->last_writer);
        enter_set(*part, access);
    }
    if (m_parts.size() > 1) {
        merge_parts(access);
    }
}

/// Each predecessor is linked once, however many parts it has in common with the access. That of
/// the largest part is the first, so that it says who wrote most of the bytes.
void region_map::join_parts(access_record& access, new_links& links) {
    m_found.clear();
    for (fragment* const part : m_parts) {
        part->before.remove_released(part->last_writer);
        for (access_record* const each : part->predecessors(access)) {
            if (m_found.empty() || m_found.back() != each) {
                m_found.push_back(each);
            }
        }
    }
    std::sort(m_found.begin(), m_found.end());
    m_found.erase(std::unique(m_found.begin(), m_found.end()), m_found.end());
    const fragment& largest = **std::max_element(
        m_parts.begin(), m_parts.end(),
        [](const fragment* a, const fragment* b) { return a->bytes < b->bytes; });
    if (largest.last_writer != k_no_writer) {
        access.last_writer = largest.last_writer;
    }
    if (const access_set& before = largest.predecessors(access); !before.empty()) {
        std::iter_swap(m_found.begin(), std::find(m_found.begin(), m_found.end(), *before.begin()));
    }
    for (access_record* const each : m_found) {
        links.add(*each);
        if (access.last_writer != k_no_writer && !access.own_link().is_used()) [[unlikely]] {
            links.with_link = nullptr;  // it is known: others have nothing to say
        }
    }
    enter_divided(access);
}

// -- removing ----------------------------------------------------------------------------------

/// Removes the fragments that no later access can wait for. Its cost is spread over the fragments
/// that were added since the last time.
void region_map::remove_unused() noexcept {
    constexpr std::size_t k_least = 1024;
    for (ordered* const all : {&m_ordered, &m_strided, &m_sentinels}) {
        for (auto at = all->begin(); at != all->end();) {
            fragment& f = at->second;
            f.current.remove_released(f.last_writer);
            if (!f.current.empty()) {
                ++at;
                continue;
            }
            m_exact.erase(f);
            at = all->erase(at);
        }
    }
    m_clean_at = std::max(k_least, 2 * fragments());
}

/// Drops references to tasks that no later access can wait for: the memory of many readers of data
/// that are not accessed again. The cost is spread over the accesses since the last time.
void region_map::forget_released() noexcept {
    constexpr std::size_t k_least = 1024;
    std::size_t kept = fragments();
    for (ordered* const all : {&m_ordered, &m_strided, &m_sentinels}) {
        for (auto& [begin, f] : *all) {
            f.before.remove_released(f.last_writer);
            f.current.remove_released(f.last_writer);
            kept += f.before.size() + f.current.size();
        }
    }
    m_entered = 0;
    m_forget_at = std::max(k_least, 4 * kept);
}

void region_map::clear() noexcept {
    m_exact.clear();
    m_ordered.clear();
    m_strided.clear();
    m_sentinels.clear();
    m_inherited.clear();
}

}  // namespace quern::detail
