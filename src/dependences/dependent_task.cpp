// SPDX-License-Identifier: BSL-1.0
// The life of a dependent task from its call to its completion, on the thread that runs it or that
// ends its last child. The step numbers are those of README.md.
#include <quern/dependences/detail/domain_core.hpp>
#include <quern/dependences/detail/watch.hpp>

#include "ready_successors.hpp"

#include <algorithm>
#include <utility>

namespace quern::detail {

constinit std::atomic<dependence_watch*> g_dependence_watch{nullptr};

void watch_dependences(dependence_watch* by) noexcept {
    g_dependence_watch.store(by, std::memory_order_release);  // pairs with watching_dependences
}

bool access_record::precede(dependence_target& target, access_record* with_link) {
    if (dependence_watch* const watch = watching_dependences();
        watch != nullptr && target.is_a == dependence_target::what::task) [[unlikely]] {
        watch->follows(task, static_cast<const dependent_task&>(target));
    }
    if (successors.is_released()) {
        return false;
    }
    const bool has_own = with_link != nullptr && with_link->own_link.target == nullptr;
    dependence_link* const link = has_own ? &with_link->own_link
                                          : ::new (allocate_block(sizeof(dependence_link)))
                                                dependence_link{.is_block = true};
    link->target = &target;
    if (successors.push(*link)) {
        return true;
    }
    if (has_own) {
        link->target = nullptr;
    } else {
        free_block(link, sizeof(dependence_link));
    }
    return false;
}

// -- releasing ---------------------------------------------------------------------------------

void ready_successors::release(access_record& one) noexcept {
    dependence_link* next = one.successors.release();
    while (next != nullptr) {
        dependence_link* const link = next;
        next = link->next;
        dependence_target& target = *link->target;
        if (link->is_block) {
            free_block(link, sizeof(dependence_link));
        }
        // From here on a link within the target may be gone, and the target too.
        dependence_link* const more = target.missing.satisfied() ? satisfy(target) : nullptr;
        if (more != nullptr) {
            dependence_link* last = more;
            while (last->next != nullptr) {
                last = last->next;
            }
            last->next = next;
            next = more;
        }
    }
}

/// Nothing is missing to the target. Returns the links to follow, if it is an access.
dependence_link* ready_successors::satisfy(dependence_target& target) noexcept {
    switch (target.is_a) {
        case dependence_target::what::task:
            add(static_cast<dependent_task&>(target));
            return nullptr;
        case dependence_target::what::access:
            return static_cast<access_record&>(target).successors.release();
        case dependence_target::what::waiter:
            static_cast<access_waiter&>(target).wake();
            return nullptr;
    }
    return nullptr;
}

void ready_successors::add(dependent_task& task) noexcept {
    runnable* item = &task;
    if (m_best == nullptr || item->rank > m_best->rank) {
        std::swap(item, m_best);
    }
    if (item != nullptr) {
        m_others.add(*item);
    }
}

void ready_successors::move_to(ready_batch& batch) noexcept {
    if (m_best != nullptr) {
        batch.add(*m_best);
    }
    while (!m_others.empty()) {
        batch.add(m_others.take_first());
    }
}

// -- the task ----------------------------------------------------------------------------------

dependent_task::dependent_task(domain_core& home) noexcept
    : queued_task(home.home_pool()), dependence_target(what::task), m_home(home) {}

dependent_task::~dependent_task() = default;

domain_core& dependent_task::own_domain() {
    if (m_children == nullptr) {
        m_children = std::make_unique<domain_core>(*this);
    }
    return *m_children;
}

void dependent_task::drop() noexcept {
    m_is_dropped = true;
    forget_body();
}

void dependent_task::call() noexcept {
    if (dependence_watch* const watch = watching_dependences()) [[unlikely]] {
        watch->begins(*this);
    }
    if (m_is_dropped) {
        return;
    }
    if (m_home.is_stopped()) {
        drop();
        return;
    }
    const under_signal running(&m_home.signal());
    try {
        run_body();
    } catch (...) {
        m_home.fail(std::current_exception());
    }
    forget_body();
    if (holds_left() != 0) [[unlikely]] {
        const auto all = accesses();
        m_is_noted = m_home.held().add(*this, std::any_of(all.begin(), all.end(), [](auto& each) {
            return each.successors.newest() != nullptr;
        }));
    }
}

/// Step R1 begins here: the function has returned, and nothing holds the task.
void dependent_task::completed(ready_batch& batch) noexcept {
    if (m_is_noted) [[unlikely]] {
        m_home.held().remove(*this);
    }
    ready_successors released;
    dependent_task* complete_now = body_ended(released) ? this : nullptr;
    for (bool has_waited = false; complete_now != nullptr; has_waited = true) {
        complete_now = complete_now->complete(released, has_waited);
    }
    released.move_to(batch);
}

/// True: it has no child that has not ended. False: the last of these completes it, perhaps now.
bool dependent_task::body_ended(ready_successors& released) noexcept {
    if (m_children == nullptr) {
        return true;
    }
    for (access_record& each : accesses()) {
        release_unless_used(each, released);
    }
    m_children->map().clear();
    return m_children->parent_ended();
}

/// Links the access to those of the children, or releases it if there are none. Without memory for
/// the links the access is released when the task is complete.
void dependent_task::release_unless_used(access_record& access,
                                         ready_successors& released) noexcept {
    access.own_link.target = nullptr;  // it has been followed
    bool is_unused = false;
    try {
        std::uint32_t links = 0;
        m_children->map().link_to_users(access, links);
        is_unused = access.missing.registered(links);
    } catch (const std::bad_alloc&) {
        return;
    }
    if (is_unused) {
        released.release(access);
    }
}

/// Returns the parent if it is complete now too. The task may be gone afterwards. `has_waited`: for
/// children, so what has been released by now was released early.
dependent_task* dependent_task::complete(ready_successors& released, bool has_waited) noexcept {
    std::uint64_t early = 0;
    for (access_record& each : accesses()) {
        if (m_children == nullptr || !each.successors.is_released()) {
            released.release(each);
        } else {
            early += has_waited && !each.is_empty ? 1 : 0;
        }
    }
    if (early != 0 && k_counters) {
        m_home.counts.early.fetch_add(early, std::memory_order_relaxed);
    }
    settle(m_children != nullptr ? m_children->error() : nullptr);
    m_children.reset();
    dependent_task* const parent = m_home.task_ended();
    drop_reference();
    return parent;
}

}  // namespace quern::detail
