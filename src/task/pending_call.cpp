// SPDX-License-Identifier: BSL-1.0
// How a call begins whose input has become ready.
#include <quern/task/detail/pending_call.hpp>

#include "settle.hpp"

#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/task/detail/enough_stack.hpp>

namespace quern::detail {

pending_item::pending_item(run_function f, const task_attributes& how)
    : call_item(f), m_stop(how.stop), m_pool(pool_of(how)) {
    detail::apply_attributes(how, *this);
    if (how.how == launch::adaptive) {
        m_kind_of_child = detail::kind_of_child(how.site, how.name, how.instance.value());
    }
}

void pending_item::queue() noexcept {
    if (m_kind_of_child != k_no_kind) [[unlikely]] {
        worker* const here = current_worker();
        if (here != nullptr && &here->home() == &m_pool &&
            detail::begins_in_parent(*here, *this, m_kind_of_child)) {
            return;
        }
    }
    m_pool.make_ready(*this);
}

inline state_waiter* pending_item::close(state_base& state) noexcept {
    state_waiter* const waiters = state.mark_ready();
    state.release();
    return waiters;
}

state_waiter* pending_item::call_here(state_base& state, const typed& as) noexcept {
    return detail::on_enough_stack([&]() noexcept {
        settle_in_caller(as);
        return close(state);
    });
}

context* pending_item::run_queued(state_base& state, const typed& as) noexcept {
    state_waiter* waiters = nullptr;
    return detail::run_from_queue(
        *this,
        [&] {
            settle_as_task(state, as);
            waiters = close(state);
        },
        [&] { detail::tell(waiters); });
}

}  // namespace quern::detail
