// SPDX-License-Identifier: BSL-1.0
// this_task::release, by the running task: of an access, or of a part of one. The latter is rare,
// so it may take a lock; the usual way of an access pays for it by one bit of a word that it reads
// anyway.
#include "run/released_parts.hpp"

#include <quern/dependences/detail/domain_core.hpp>

#include "map/overlap.hpp"
#include "run/ready_successors.hpp"

#include <algorithm>
#include <mutex>
#include <new>

namespace quern::detail {

// -- bytes -------------------------------------------------------------------------------------

byte_intervals::byte_intervals(const strided_region& all) {
    m_all.reserve(all.shape != nullptr ? all.shape->rows() : 1);
    for_each_row(all, [&](std::uintptr_t begin) {
        if (!m_all.empty() && m_all.back().end == begin) {
            m_all.back().end += all.bytes;
        } else {
            m_all.push_back({begin, begin + all.bytes});
        }
    });
}

/// The first interval that ends behind that byte.
std::size_t byte_intervals::after(std::uintptr_t at) const noexcept {
    const auto found =
        std::upper_bound(m_all.begin(), m_all.end(), at,
                         [](std::uintptr_t byte, const interval& each) { return byte < each.end; });
    return static_cast<std::size_t>(found - m_all.begin());
}

bool byte_intervals::has(const strided_region& part) const noexcept {
    bool has_all = true;
    for_each_row(part, [&](std::uintptr_t begin) {
        const std::size_t i = after(begin);
        has_all = has_all && i < m_all.size() && m_all[i].begin <= begin &&
                  begin + part.bytes <= m_all[i].end;
    });
    return has_all;
}

bool byte_intervals::touches(const strided_region& part) const noexcept {
    bool has_some = false;
    for_each_row(part, [&](std::uintptr_t begin) {
        const std::size_t i = after(begin);
        has_some = has_some || (i < m_all.size() && m_all[i].begin < begin + part.bytes);
    });
    return has_some;
}

void byte_intervals::subtract(const strided_region& part) {
    m_all.reserve(m_all.size() + (part.shape != nullptr ? part.shape->rows() : 1));
    for_each_row(part, [&](std::uintptr_t begin) { subtract_row(begin, begin + part.bytes); });
}

/// Requires: room for one interval more.
void byte_intervals::subtract_row(std::uintptr_t begin, std::uintptr_t end) noexcept {
    std::size_t i = after(begin);
    if (i < m_all.size() && m_all[i].begin < begin) {
        const std::uintptr_t old_end = m_all[i].end;
        m_all[i].end = begin;
        ++i;
        if (old_end > end) {
            m_all.insert(m_all.begin() + static_cast<std::ptrdiff_t>(i), {end, old_end});
            return;
        }
    }
    const auto first = m_all.begin() + static_cast<std::ptrdiff_t>(i);
    const auto last =
        std::find_if(first, m_all.end(), [end](const interval& each) { return each.end > end; });
    if (last != m_all.end() && last->begin < end) {
        last->begin = end;
    }
    m_all.erase(first, last);
}

// -- the running task --------------------------------------------------------------------------

/// Where two accesses of the task overlap, the map may have linked a later task to one of them
/// alone.
void dependent_task::link_to_own(const access_record& access, const access_record* except,
                                 new_links& links) {
    for (access_record& other : accesses()) {
        const bool are_one_group = other.kind == access.kind && is_shared(other.kind) &&
                                   other.operation == access.operation;
        if (&other == except || other.given_up.is_set() || other.is_empty || are_one_group) {
            continue;
        }
        if (share_memory(other, access)) {
            links.add(other);
        }
    }
}

void dependent_task::give_up(access_record& access) noexcept {
    ready_successors released;
    ready_batch batch;
    if (is_large()) [[unlikely]] {
        note_write(access);
    }
    release_unless_used(access, released, true);
    released.move_to(batch);
    if (!batch.empty()) {
        home_pool().make_ready(batch);
    }
}

rare_parts::~rare_parts() {
    // relaxed: no other thread has a reference
    for (partly_released* each = partly.load(std::memory_order_relaxed); each != nullptr;) {
        delete std::exchange(each, each->next);
    }
}

partly_released* dependent_task::partly(const access_record& access) const noexcept {
    if (m_rare == nullptr) {
        return nullptr;
    }
    // acquire: pairs with give_up_part
    partly_released* each = m_rare->partly.load(std::memory_order_acquire);
    while (each != nullptr && &each->of != &access) {
        each = each->next;
    }
    return each;
}

namespace {

/// The lock of a commutative access, the part of a reduction and the entries of a weak access
/// belong to the whole.
bool has_parts(const strided_region& whole, const strided_region& wanted) noexcept {
    return whole.kind == wanted.kind && whole.kind != access_kind::commutative &&
           whole.kind != access_kind::reduction && !whole.is_weak && !whole.is_empty &&
           wanted.bytes != 0;
}

}  // namespace

bool is_place_or_part(const strided_region& whole, const strided_region& wanted) {
    return is_same_place(whole, wanted) ||
           (has_parts(whole, wanted) && byte_intervals(whole).has(wanted));
}

bool dependent_task::may_give_up_part(access_record& access, const strided_region& part) {
    if (access.given_up.is_set() || !has_parts(access, part)) {
        return false;
    }
    const partly_released* const before = partly(access);
    return before != nullptr ? before->unnamed.has(part) : byte_intervals(access).has(part);
}

released_part::released_part(const strided_region& part, partly_released& its_access)
    : access_record(part, its_access.of.owner, what::part),
      its(its_access),
      rows(part.shape != nullptr ? *part.shape : strides()) {
    shape = part.shape != nullptr ? &rows : nullptr;
}

void dependent_task::give_up_part(access_record& access, const wanted_region& wanted) noexcept {
    released_part* part = nullptr;
    try {
        partly_released* its = partly(access);
        if (its == nullptr) {
            std::atomic<partly_released*>& first = rare().partly;
            its = new partly_released(access);
            its->next = first.load(std::memory_order_relaxed);
            first.store(its, std::memory_order_release);  // pairs with partly()
        }
        its->unnamed.subtract(wanted.get());
        if (has_failed_children()) {
            return;  // released with the access, when the error stops the tasks that wait
        }
        part = new released_part(wanted.get(), *its);
    } catch (const std::bad_alloc&) {
        return;  // the same
    }
    std::uint32_t made = 0;
    new_links links{*part, part, nullptr, made, part};
    try {
        link_to_own(*part, &access, links);
        if (m_children != nullptr) {
            m_children->map().link_to_users(*part, links);
        }
    } catch (const std::bad_alloc&) {
        part->is_void = true;
    }
    if (part->missing.registered(made)) {
        ready_successors released;
        ready_batch batch;
        released.release_part(*part);
        released.move_to(batch);
        if (!batch.empty()) {
            home_pool().make_ready(batch);
        }
    }
}

// -- links -------------------------------------------------------------------------------------

namespace {

/// Whether what is left of the access keeps the target waiting.
bool must_wait(const dependence_target& target, const strided_region* by,
               const byte_intervals& left) noexcept {
    if (target.is_a == dependence_target::what::waiter) {
        const auto all = static_cast<const access_waiter&>(target).wanted;
        return std::any_of(all.begin(), all.end(),
                           [&left](const wanted_region& each) { return left.touches(each.get()); });
    }
    return by == nullptr || left.touches(*by);
}

/// Requires: the link has not been followed.
const strided_region* access_of(dependence_link& link) noexcept {
    return link.is_block() ? static_cast<linked_block&>(link).by
                           : &access_record::of_own_link(link);
}

}  // namespace

/// By the owner of the domain: the access keeps the task until the lock is given back, for the map
/// refers to it.
bool access_record::precede_partly(dependence_link& link, const dependence_target& target,
                                   const strided_region* by) noexcept {
    partly_released& its = *static_cast<dependent_task&>(owner).partly(*this);
    // Under the lock: else a part that is released between the look and the push would leave the
    // link behind.
    const std::lock_guard held(its.lock);
    return must_wait(target, by, its.left) && successors.push_partly(link);
}

dependence_link* links_past(released_part& part) noexcept {
    const std::unique_ptr<released_part> own(&part);
    partly_released& its = part.its;
    const auto& task = static_cast<const dependent_task&>(its.of.owner);
    if (part.is_void || task.has_failed_children()) {
        return nullptr;
    }
    const std::lock_guard held(its.lock);
    try {
        its.left.subtract(part);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    dependence_link* past = nullptr;
    dependence_link** last = &past;
    for (dependence_link* each = its.of.successors.take_partly(); each != nullptr;) {
        dependence_link& link = *std::exchange(each, each->next);
        const bool waits = must_wait(link.target(), access_of(link), its.left);
        // What cannot be pushed has no longer to wait: the whole access has been released.
        if (!waits || !its.of.successors.push_partly(link)) {
            link.next = nullptr;
            *last = &link;
            last = &link.next;
        }
    }
    return past;
}

}  // namespace quern::detail
