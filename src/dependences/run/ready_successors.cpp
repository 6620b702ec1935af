// SPDX-License-Identifier: BSL-1.0
// Releases accesses and follows their links until nothing is left. The step numbers are those of
// README.md.
#include "run/ready_successors.hpp"

#include "run/released_parts.hpp"

#include <utility>

namespace quern::detail {

void ready_successors::release(access_record& one) noexcept { follow(close(one)); }

void ready_successors::release_given_up(access_record& one) noexcept {
    if (may_release(one)) {
        release(one);
    }
}

bool ready_successors::may_release(access_record& one) noexcept {
    return one.given_up.may_release(
        [&one] { return static_cast<dependent_task&>(one.owner).has_failed_children(); });
}

/// Returns the links to follow, the oldest first.
dependence_link* ready_successors::close(access_record& one) noexcept {
    if (one.kind == access_kind::reduction && !one.is_weak) [[unlikely]] {
        static_cast<dependent_task&>(one.owner).end_access(one);
    }
    dependence_link* const links = released_links(one);
    if (one.kind == access_kind::commutative && !one.is_weak) [[unlikely]] {
        hand_on_locks(one);
    }
    return links;
}

/// The access that waits with its own link is told who wrote the data, before the link is followed.
dependence_link* ready_successors::released_links(access_record& one) noexcept {
    dependence_link* const links = one.successors.release();
    if (one.last_writer != k_no_writer) [[unlikely]] {
        for (dependence_link* each = links; each != nullptr; each = each->next) {
            if (!each->is_block()) {
                access_record::of_own_link(*each).last_writer = one.last_writer;
            }
        }
    }
    return links;
}

void ready_successors::hand_on_locks(access_record& of) noexcept {
    rare_parts* const rare = static_cast<dependent_task&>(of.owner).m_rare.get();
    if (rare == nullptr || rare->locks == nullptr) {
        return;  // its registration failed
    }
    bool is_alone = false;
    while (const auto lock = rare->locks->take_needless(of, is_alone)) {
        lock->give_back(is_alone, [this](lock_request& next) { add(next.task); });
    }
}

void ready_successors::follow(dependence_link* first) noexcept {
    dependence_link* next = first;
    weak_entry* entries = nullptr;  // their records are needed until all links are followed
    while (next != nullptr) {
        dependence_link* const link = next;
        next = link->next;
        dependence_target& target = link->target();
        if (link->is_block()) {
            free_block(link, sizeof(linked_block));
        }
        // From here on a link within the target may be gone, and the target too.
        if (!target.missing.satisfied()) {
            continue;
        }
        if (target.is_a == dependence_target::what::entry) {
            auto& entry = static_cast<weak_entry&>(static_cast<access_record&>(target).owner);
            entry.next = std::exchange(entries, &entry);
        }
        if (dependence_link* const more = satisfy(target)) {
            dependence_link* last = more;
            while (last->next != nullptr) {
                last = last->next;
            }
            last->next = next;
            next = more;
        }
    }
    while (entries != nullptr) {
        std::exchange(entries, entries->next)->drop_reference();
    }
}

/// Nothing is missing to the target. Returns the links to follow, if it is an access.
dependence_link* ready_successors::satisfy(dependence_target& target) noexcept {
    switch (target.is_a) {
        case dependence_target::what::task:
            if (auto& task = static_cast<dependent_task&>(target); task.holds_its_locks()) {
                add(task);
            }
            return nullptr;
        case dependence_target::what::access: {
            auto& access = static_cast<access_record&>(target);
            return may_release(access) ? close(access) : nullptr;
        }
        case dependence_target::what::entry:
            return released_links(static_cast<access_record&>(target));
        case dependence_target::what::part:
            return links_past(static_cast<released_part&>(target));
        case dependence_target::what::waiter:
            static_cast<access_waiter&>(target).wake();
            return nullptr;
    }
    return nullptr;
}

void ready_successors::release_part(released_part& one) noexcept { follow(links_past(one)); }

void ready_successors::release_entry(weak_entry& one) noexcept {
    follow(released_links(one.record));
    one.drop_reference();
}

/// A parent whose last child this was is complete too, and so on.
void ready_successors::complete(dependent_task& one) noexcept {
    dependent_task* each = &one;
    for (bool has_waited = false; each != nullptr; has_waited = true) {
        each = each->complete(*this, has_waited);
    }
}

void ready_successors::add(dependent_task& task) noexcept {
    m_has_large = m_has_large || task.is_large();
    runnable* item = &task;
    if (m_best == nullptr || item->rank > m_best->rank) {
        std::swap(item, m_best);
    }
    if (item != nullptr) {
        m_others.add(*item);
    }
}

void ready_successors::move_to(ready_batch& batch) noexcept {
    if (m_has_large) [[unlikely]] {
        send_communication();
        if (m_has_large) {
            place_all();
        }
    }
    if (m_best != nullptr) {
        batch.add(*std::exchange(m_best, nullptr));
    }
    while (!m_others.empty()) {
        batch.add(m_others.take_first());
    }
}

}  // namespace quern::detail
