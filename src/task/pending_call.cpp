// SPDX-License-Identifier: BSL-1.0
// How a call begins whose input has become ready.
#include <quern/task/detail/pending_call.hpp>

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

inline state_waiter* pending_item::call(state_base& state, const typed& as,
                                        task_body::part_of what) noexcept {
    settle(state, as, what);
    state_waiter* const waiters = state.mark_ready(sharing::any);
    state.release();
    return waiters;
}

state_waiter* pending_item::call_here(state_base& state, const typed& as) noexcept {
    return detail::on_enough_stack(
        [&]() noexcept { return call(state, as, task_body::part_of::caller); });
}

context* pending_item::run_queued(state_base& state, const typed& as) noexcept {
    state_waiter* waiters = nullptr;
    return detail::run_from_queue(
        *this, [&] { waiters = call(state, as, task_body::part_of::task); },
        [&] { detail::tell(waiters); });
}

}  // namespace quern::detail
