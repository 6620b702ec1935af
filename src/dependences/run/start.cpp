// SPDX-License-Identifier: BSL-1.0
// How a task enters a domain: its accesses are linked to those before them, then it may be ready.
// The step numbers are those of README.md.
#include <quern/dependences/detail/domain_core.hpp>
#include <quern/dependences/detail/graph_recording.hpp>

#include "map/overlap.hpp"
#include "run/limits.hpp"
#include "run/ready_successors.hpp"

#include <new>
#include <utility>

namespace quern::detail {

QUERN_ALWAYS_INLINE bool domain_core::enter(dependent_task& task) {
    task.begin_registration();
    if (graph_recording* const recording = current_graph_recording()) [[unlikely]] {
        recording->registers(*this, task);
    }
    std::uint32_t made = 0;
    std::uint32_t entered = 0;
    std::size_t bytes = 0;
    new_links links{task, nullptr, &task, made};
    try {
        if (!m_open.empty()) [[unlikely]] {
            close_reductions_for(task);  // before anything of the task is in the map
        }
        bool has_weak = false;
        for (access_record& each : task.accesses()) {
            links.with_link = &each;
            links.by = &each;
            bytes += bytes_of(each);
            if (each.is_weak) [[unlikely]] {
                has_weak = true;
            } else if (!each.is_empty) {
                m_map.enter(each, links);
                ++entered;
            }
        }
        if (has_weak) [[unlikely]] {
            enter_weak(task, links);
        }
        if (task.has_rare_parts()) {
            enter_rare(task, links);
        }
    } catch (const std::bad_alloc&) {
        if (task.has_rare_parts()) {
            task.rare().locks.reset();
        }
        task.drop();
        launch(task, made);
        throw;
    }
    if constexpr (k_counters) {
        counts.accesses = counts.accesses + entered;
        counts.edges = counts.edges + made;
    }
    if (bytes >= locality_limit()) [[unlikely]] {
        task.set_large();
    }
    return launch(task, made);
}

void domain_core::enter_rare(dependent_task& task, new_links& of_task) {
    rare_parts& rare = task.rare();
    if (rare.order != nullptr) {
        of_task.with_link = rare.order.get();
        of_task.by = rare.order.get();
        m_map.enter(*rare.order, of_task);
    }
    if (rare.locks != nullptr) {
        rare.locks->prepare();
    }
}

void domain_core::start(dependent_task& task) {
    if (m_window.is_look_due()) {
        make_room();
        if (root().checks() != nullptr) [[unlikely]] {
            start_checked(task);
            return;
        }
    }
    enter(task);
}

/// Returns when the task is complete, or when nothing is left to run: then tasks wait for what the
/// caller does next.
void domain_core::start_checked(dependent_task& task) {
    m_window.look_after(1);  // at each task
    const std::int64_t before = live();
    const checks_aside caller;
    check_declarations(*root().checks(), *this, task);
    wait_of_creator wait(*root().checks());
    if (enter(task)) {
        wait.expects_body();
    }
    let_others_run(
        home_pool(), [](const void* of) { return static_cast<const domain_core*>(of)->live(); },
        this, before, &wait);
}

bool domain_core::launch(dependent_task& task, std::uint32_t links) noexcept {
    own_count().owner_spawned();
    own_spawned() = own_spawned() + 1;
    task.end_registration();
    if (task.has_rare_parts()) {
        launch_entries(std::exchange(task.rare().entries, nullptr));
    }
    const bool is_ready = task.missing.registered(links) && task.holds_its_locks();
    if (is_ready) {
        task.become_ready();
    }
    return is_ready;
}

/// A weak access keeps children waiting instead of the task: by an entry in their map. After the
/// other accesses: where both overlap, these make the task wait. In a task that holds locks weak
/// accesses are as others: a child would wait for an earlier task, which may wait for the lock.
void domain_core::enter_weak(dependent_task& task, new_links& of_task) {
    const bool has_locks = task.has_rare_parts() && task.rare().locks != nullptr;
    for (access_record& access : task.accesses()) {
        if (!access.is_weak || access.is_empty) {
            continue;
        }
        if (has_locks) {
            access.is_weak = false;
            of_task.with_link = &access;
            of_task.by = &access;
            m_map.enter(access, of_task);
            continue;
        }
        rare_parts& rare = task.rare();
        for (const fragment* const part : m_map.divide(access)) {
            auto* const entry = new weak_entry(part->where(), task);
            entry->next = std::exchange(rare.entries, entry);
            entry->begin_registration();
            if (graph_recording* const recording = current_graph_recording()) [[unlikely]] {
                recording->registers(*entry);
            }
            entry->record.last_writer = part->last_writer;
            new_links links{entry->record, &entry->record, &task, entry->links, &entry->record};
            for (access_record* const each : part->predecessors(access)) {
                links.add(*each);
            }
            task.own_domain().map().enter(entry->record, links);
        }
        m_map.enter_divided(access);
    }
}

void domain_core::launch_entries(weak_entry* first) noexcept {
    while (first != nullptr) {
        weak_entry& entry = *std::exchange(first, first->next);
        entry.end_registration();
        if (entry.record.missing.registered(entry.links)) {
            ready_successors released;
            ready_batch batch;
            released.release_entry(entry);
            released.move_to(batch);
            if (!batch.empty()) {
                home_pool().make_ready(batch);
            }
        }
    }
}

void domain_core::start_and_wait(dependent_task& task) {
    access_waiter self(*this, {});
    try {
        task.rare().undeferred = &self;
    } catch (const std::bad_alloc&) {
        task.drop();
        start(task);
        throw;
    }
    try {
        start(task);
    } catch (const std::bad_alloc&) {
        wait_for(self, 1);
        throw;
    }
    wait_for(self, 1);
}

}  // namespace quern::detail
