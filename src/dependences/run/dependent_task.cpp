// SPDX-License-Identifier: BSL-1.0
// The life of a dependent task from its call to its completion, on the thread that runs it or that
// ends its last child. The step numbers are those of README.md.
#include <quern/dependences/detail/access_checks.hpp>
#include <quern/dependences/detail/domain_core.hpp>
#include <quern/dependences/detail/graph_recording.hpp>
#include <quern/dependences/detail/replayed_task.hpp>
#include <quern/dependences/detail/restart.hpp>
#include <quern/scheduler/detail/branches.hpp>

#include "run/ready_successors.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <utility>

namespace quern::detail {

namespace {

template <class Earlier>
void tell_of_edge(graph_recording& recording, const Earlier& earlier,
                  const dependence_target& target) noexcept {
    if (target.is_a == dependence_target::what::task) {
        recording.follows(earlier, static_cast<const dependent_task&>(target));
    } else if (target.is_a == dependence_target::what::entry) {
        recording.follows(earlier, static_cast<const weak_entry&>(
                                       static_cast<const access_record&>(target).owner));
    }
}

/// The access is released, so its last writer is known, and its target need not be told later.
void tell_last_writer(const access_record& released, access_record* successor) noexcept {
    if (released.last_writer != k_no_writer && successor != nullptr &&
        !successor->own_link().is_used()) {
        successor->last_writer = released.last_writer;
    }
}

}  // namespace

bool access_record::precede(dependence_target& target, access_record* with_link,
                            const strided_region* by) {
    if (graph_recording* const recording = current_graph_recording()) [[unlikely]] {
        if (is_a == what::access) {
            tell_of_edge(*recording, static_cast<const dependent_task&>(owner), target);
        } else if (is_a == what::entry) {
            tell_of_edge(*recording, static_cast<const weak_entry&>(owner), target);
        }
    }
    if (successors.is_released()) {
        detail::tell_last_writer(*this, with_link);
        return false;
    }
    const bool has_own = with_link != nullptr && !with_link->own_link().is_used();
    dependence_link* link = nullptr;
    if (has_own) {
        link = &with_link->own_link();
    } else {
        auto* const block = ::new (allocate_block(sizeof(linked_block))) linked_block;
        block->by = by;
        link = block;
    }
    link->set(target, !has_own);
    if (successors.push(*link)) {
        return true;
    }
    const bool is_partly = !successors.is_released();
    if (is_partly && precede_partly(*link, target, by)) {
        return true;
    }
    if (has_own) {
        link->clear();
    } else {
        free_block(link, sizeof(linked_block));
    }
    if (!is_partly) {
        detail::tell_last_writer(*this, with_link);
    }
    return false;
}

// -- a task ------------------------------------------------------------------------------------

dependent_task::dependent_task(domain_shared& home) noexcept
    : queued_task(home.home_pool()), dependence_target(what::task), m_home(home) {}

dependent_task::~dependent_task() = default;

domain_core& dependent_task::own_domain() {
    if (m_children == nullptr) {
        m_children = std::make_unique<domain_core>(*this);
    }
    return *m_children;
}

rare_parts& dependent_task::rare() {
    if (m_rare == nullptr) {
        m_rare = std::make_unique<rare_parts>();
    }
    return *m_rare;
}

void dependent_task::drop() noexcept {
    m_is_dropped = true;
    forget_body();
}

QUERN_ALWAYS_INLINE void dependent_task::call_body() noexcept {
    if (m_is_dropped) {
        return;
    }
    if (m_home.is_stopped()) {
        drop();
        return;
    }
    if (is_large()) [[unlikely]] {
        count_place();
    }
    const under_signal running(&m_home.signal());
    fork_slowly();  // branches are not this task: they may neither spawn nor release
    try {
        run_body();
        if (m_children != nullptr) {
            m_children->close_all_reductions();
        }
    } catch (const restart_of_task&) {
        m_ending = ending::restarts;
        return;
    } catch (...) {
        m_home.fail(std::current_exception());
    }
    const bool is_held = holds_left() != 0;
    if (!is_held) [[likely]] {
        forget_body();
    }
    if (is_large()) [[unlikely]] {
        note_writes();
    }
    if (is_held) [[unlikely]] {
        has_returned_held();
    }
}

/// What holds it may use the captures of the function, as it may use the data: they are kept.
void dependent_task::has_returned_held() noexcept {
    const auto all = accesses();
    const bool is_noted = m_home.held().add(
        *this, std::any_of(all.begin(), all.end(),
                           [](auto& each) { return each.successors.newest() != nullptr; }));
    m_ending = is_noted ? ending::noted : ending::held;
    end_order();
}

void dependent_task::call() noexcept {
    if (graph_recording* const recording = current_graph_recording()) [[unlikely]] {
        call_watched(*recording);
    } else {
        call_body();
    }
}

/// While a recording or check-accesses sees it.
void dependent_task::call_watched(graph_recording& recording) noexcept {
    recording.begins(*this);
    access_checks* const checks =
        m_is_dropped || m_home.is_stopped() ? nullptr : m_home.root().checks();
    const checked_body check(checks, *this);
    call_body();
}

// -- its end -----------------------------------------------------------------------------------

/// Step 5: the function has returned, and nothing holds the task.
void dependent_task::completed(ready_batch& batch) noexcept {
    if (m_ending != ending::usual && !ended_unusually()) [[unlikely]] {
        return;
    }
    ready_successors released;
    if (m_is_replayed && m_children == nullptr) [[unlikely]] {
        static_cast<replayed_task*>(this)->step_ended(released);
    } else if (body_ended(released)) {
        released.complete(*this);
    }
    released.move_to(batch);
}

/// False: its function is called again.
bool dependent_task::ended_unusually() noexcept {
    switch (std::exchange(m_ending, ending::usual)) {
        case ending::restarts:
            queue_again();
            return false;
        case ending::noted:
            m_home.held().remove(*this);
            forget_body();
            break;
        case ending::held:
            forget_body();
            break;
        case ending::usual:
            break;
    }
    return true;
}

/// True: it has no child that has not ended. False: the last of these completes it, perhaps now.
bool dependent_task::body_ended(ready_successors& released) noexcept {
    if (m_children == nullptr) {
        return true;
    }
    m_children->parent_ends();
    if (!m_waits) {
        give_up_all(released);
        wake_creator();
    }
    return m_children->parent_ended();
}

/// That of an undeferred task waits for the function, not for the children.
void dependent_task::wake_creator() noexcept {
    if (m_rare == nullptr) [[likely]] {
        return;
    }
    access_waiter* const creator = std::exchange(m_rare->undeferred, nullptr);
    if (creator != nullptr && creator->missing.satisfied()) {
        creator->wake();
    }
}

/// Each access is released now, or with the children that use it. The map of the children has no
/// further use.
void dependent_task::give_up_all(ready_successors& released) noexcept {
    for (access_record& each : accesses()) {
        if (!each.given_up.is_set()) {
            release_unless_used(each, released, false);
        } else if (each.given_up.is_left_to_end()) {
            released.release(each);
        }
    }
    m_children->map().clear();
}

/// Links the access to those of the children, or releases it if there are none. Without memory for
/// the links the access is released when the task is complete. `is_running`: the function has not
/// returned, and uses the others. If a child has failed by then, or has when nothing is missing,
/// the access is kept until the end: only then the error stops the tasks that wait for it.
void dependent_task::release_unless_used(access_record& access, ready_successors& released,
                                         bool is_running) noexcept {
    if (access.kind == access_kind::reduction && m_children != nullptr) {
        return;  // children may use its part, which lies elsewhere
    }
    if (is_running && has_failed_children()) {
        return;
    }
    std::uint32_t made = 0;
    if ((m_children != nullptr || is_running) && !access.is_empty) {
        access.own_link().clear();  // it has been followed
        try {
            new_links links{access, &access, nullptr, made, &access};
            if (is_running) {
                link_to_own(access, &access, links);
            }
            if (m_children != nullptr) {
                m_children->map().link_to_users(access, links);
            }
        } catch (const std::bad_alloc&) {
            return;
        }
    }
    if (is_running) {
        access.given_up.by_running_task();
    } else {
        access.given_up.at_end();
    }
    if (access.missing.registered(made)) {
        released.release_given_up(access);
    }
}

bool dependent_task::has_failed_children() const noexcept {
    return m_children != nullptr && m_children->has_failed();
}

/// Step 6. Returns the parent if it is complete now too. The task may be gone afterwards.
/// `has_waited`: for children, so what has been released by now was released early.
dependent_task* dependent_task::complete(ready_successors& released, bool has_waited) noexcept {
    if (m_is_replayed) [[unlikely]] {
        m_children.reset();
        static_cast<replayed_task*>(this)->step_ended(released);
        return nullptr;
    }
    std::uint64_t early = 0;
    if (m_children != nullptr && m_waits) {
        give_up_all(released);
    }
    for (access_record& each : accesses()) {
        if (!each.given_up.is_set()) {
            released.release(each);
        } else {
            early += (has_waited || m_children == nullptr) && !each.is_empty ? 1 : 0;
        }
    }
    if (early != 0 && k_counters) {
        m_home.counts.early.fetch_add(early, std::memory_order_relaxed);
    }
    if (m_rare != nullptr && m_rare->order != nullptr && !m_rare->order->given_up.is_set())
        [[unlikely]] {
        released.release(*m_rare->order);
    }
    settle(m_children != nullptr ? m_children->error() : nullptr);
    m_children.reset();
    wake_creator();
    dependent_task* const parent = m_home.task_ended();
    drop_reference();
    return parent;
}

// -- what few tasks have -----------------------------------------------------------------------

weak_entry::weak_entry(const strided_region& part, dependent_task& parent)
    : record(part, *this, dependence_target::what::entry),
      m_parent(parent),
      m_shape(part.shape != nullptr ? std::make_unique<const strides>(*part.shape) : nullptr) {
    record.kind = access_kind::write;
    record.shape = m_shape.get();
    m_parent.add_reference();
}

weak_entry::~weak_entry() { m_parent.drop_reference(); }

void lock_request::need(access_record& by, const std::shared_ptr<commutative_lock>& of,
                        bool is_alone) {
    m_needs.push_back({&by, of, is_alone});
}

void lock_request::prepare() {
    m_uses.clear();
    for (const need_of& each : m_needs) {
        m_uses.push_back({each.of.get(), each.is_alone});
    }
    std::sort(m_uses.begin(), m_uses.end(), [](const auto& a, const auto& b) {
        return a.of != b.of ? std::less<>()(a.of, b.of) : a.is_alone > b.is_alone;
    });
    m_uses.erase(std::unique(m_uses.begin(), m_uses.end(),
                             [](const auto& a, const auto& b) { return a.of == b.of; }),
                 m_uses.end());
    rank = task.rank;
}

std::shared_ptr<commutative_lock> lock_request::take_needless(const access_record& by,
                                                              bool& is_alone) noexcept {
    const std::lock_guard held(m_lock);
    std::shared_ptr<commutative_lock> found;
    while (found == nullptr) {
        const auto mine = std::find_if(m_needs.begin(), m_needs.end(),
                                       [&](const need_of& each) { return each.by == &by; });
        if (mine == m_needs.end()) {
            return nullptr;
        }
        found = std::move(mine->of);
        m_needs.erase(mine);
        if (std::any_of(m_needs.begin(), m_needs.end(),
                        [&](const need_of& each) { return each.of == found; })) {
            found = nullptr;  // for another access
        }
    }
    const auto use = std::find_if(m_uses.begin(), m_uses.end(),
                                  [&](const auto& each) { return each.of == found.get(); });
    is_alone = use->is_alone;
    return found;
}

}  // namespace quern::detail
