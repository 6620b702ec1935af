// SPDX-License-Identifier: BSL-1.0
// How a task with a result begins: from a queue, or in the place of one that waits for it.
#include <quern/task/detail/task_state.hpp>

#include "settle.hpp"

#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/task/detail/enough_stack.hpp>

#include <algorithm>

namespace quern::detail {

namespace {

/// Whether an item precedes both the task and the one that waits for it here. Then the waiter does
/// not run the task but suspends, which returns to the loop. A task gets the place of its waiter if
/// that is the better one, as what waits for it would be late otherwise.
QUERN_COLD bool must_let_others_run(const context& waiter, const runnable& task) noexcept {
    return waiter.host().best_placed() > std::max(key_of(waiter), key_of(task));
}

}  // namespace

// relaxed: exclusion only; queue and state carry the data.
inline bool task_item::claim() noexcept { return !begun.exchange(true, std::memory_order_relaxed); }

/// The waiter has begun it: the entry is empty.
inline context* task_item::pass_over(state_base& state) noexcept {
    count_no_task();
    if (m_pool != nullptr) {
        m_pool->empty_entry_is_gone();
    }
    state.release();
    return nullptr;
}

context* task_item::run_queued(state_base& state, const typed& as) noexcept {
    if (begun.load(std::memory_order_relaxed)) {
        return pass_over(state);
    }
    if (context* const larger = detail::begin_task(*this)) {
        return larger;
    }
    if (!claim()) {
        return pass_over(state);
    }
    settle_as_task(state, as);
    state.publish(sharing::any);
    count_task();
    state.release();
    return nullptr;
}

inline bool task_item::may_run_here(const context* here) const noexcept {
    if (m_pool == nullptr) {
        return true;
    }
    return here != nullptr && &here->host().home() == m_pool && !is_hinted() &&
           stack == stack_class::small &&  // a larger one may not fit on this stack
           !(m_pool->has_placed() && must_let_others_run(*here, *this));
}

/// First tries to take the task out of the queue; otherwise its entry, and with it the state, would
/// stay there. A waiter that has taken it out and holds the only future shares the state with no
/// other thread.
QUERN_ALWAYS_INLINE void task_item::begin_in_place(context* here, state_base& state,
                                                   const typed& as, sharing with) noexcept {
    const bool is_taken = here != nullptr && this_worker(*here).take_back(*this);
    const sharing own = is_taken ? with : sharing::any;
    if (own == sharing::producer) {
        begun.store(true, std::memory_order_relaxed);
    }
    if (own == sharing::producer || claim()) {
        {
            inline_scope place(here);
            place.begin(*this);
            settle_as_task(state, as);
            state.publish(own);
            place.end_and_count();
        }
        if (!is_taken && m_pool != nullptr) {
            m_pool->entry_left_empty();
        }
    }
    if (is_taken) {
        state.release_of_producer(own);
    }
}

void task_item::begin_if_possible(state_base& state, const typed& as, sharing with) noexcept {
    context* const here = current_context();
    if (may_run_here(here)) {
        begin_in_place(here, state, as, with);
    }
}

void task_item::start_when_watched(state_base& state) noexcept {
    if (!begun.load(std::memory_order_relaxed) &&
        !m_queued.exchange(true, std::memory_order_relaxed)) {
        state.add_reference();  // the queue's
        current_pool().get().make_ready(*this);
    }
}

inline void task_item::begin_now(state_base& state, const typed& as) noexcept {
    if (claim()) {
        settle_in_caller(as);
        state.publish(sharing::any);
    }
}

void task_item::start(state_base& state, const typed& as, const task_attributes& wanted,
                      pool& where) noexcept {
    if (wanted.communication) [[unlikely]] {
        allow_waiter_to_begin(state, as, where.communication_pool());
        where.make_communication_ready(*this);
        return;
    }
    switch (wanted.how) {
        case launch::sync:
            on_enough_stack([&]() noexcept { begin_now(state, as); });
            state.release();
            return;
        case launch::deferred:
            state.allow(as.begin_or_start);
            state.release();
            return;
        case launch::fork: {
            const worker* const here = current_worker();
            if (here != nullptr && &here->home() == &where) {
                detail::run_before_self(*this);
                return;
            }
            break;  // in another pool there is no creator to replace
        }
        case launch::adaptive:
            if (starts_as_child(where, wanted.instance.value())) {
                return;
            }
            break;
        case launch::async:
            break;
    }
    allow_waiter_to_begin(state, as, where);
    where.make_ready(*this);
}

}  // namespace quern::detail
