// SPDX-License-Identifier: BSL-1.0
// How a task calls its function, whatever the types of the function and of its result are.
#include <quern/task/detail/call_item.hpp>

#include <quern/task/stop.hpp>

#include <utility>

namespace quern::detail {

bool call_item::starts_as_child(const pool& where, std::uint64_t instance) noexcept {
    const child_kind own = detail::kind_of_child(site, name, instance);
    if (own == k_no_kind) {
        return false;
    }
    m_kind_of_child = own;
    worker* const here = current_worker();
    return here != nullptr && &here->home() == &where &&
           detail::begins_in_parent(*here, *this, own);
}

void call_item::settle(state_base& state, const typed& as, task_body::part_of what) noexcept {
    if (as.stop == nullptr) {
        settle_under(nullptr, state, as, what);
        return;
    }
    const stop_signal own(std::move(*as.stop(*this)));
    if (!own.asks_by_token()) [[likely]] {
        settle_under(own.if_token(), state, as, what);
        return;
    }
    if (as.drop != nullptr) {
        as.drop(*this);
    }
    as.fail(*this, detail::cancelled_task(name));
}

// The function is destroyed after the task's locals and holds, and before its result is known.
void call_item::settle_under(const stop_signal* signal, state_base& state, const typed& as,
                             task_body::part_of what) noexcept {
    const bool is_task = what == task_body::part_of::task;
    const under_signal running(signal, !is_task);
    if (is_task) {
        if (context* const here = current_context()) {
            here->root().task().result = &state;
        }
    }
    {
        const task_body body(what);
        const child_timing timing(m_kind_of_child);
        try {
            as.call(*this);
        } catch (...) {
            as.fail(*this, std::current_exception());
        }
    }
    if (as.drop != nullptr) {
        as.drop(*this);
    }
}

}  // namespace quern::detail
