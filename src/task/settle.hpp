// SPDX-License-Identifier: BSL-1.0
// How a task calls its function, whatever the types of the function and of its result are. In a
// header because it is in the path of each task: one call less for each.
#pragma once

#include <quern/task/detail/call_item.hpp>
#include <quern/task/stop.hpp>

#include <exception>

namespace quern::detail {

/// The function is destroyed after the task's locals and holds, and before its result is known.
QUERN_ALWAYS_INLINE void call_item::call_and_drop(const typed& as,
                                                  task_body::part_of what) noexcept {
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

/// Whether nothing can ask the task to stop by its token.
QUERN_ALWAYS_INLINE bool call_item::has_no_token(const typed& as) noexcept {
    return as.stop == nullptr || !as.stop(*this)->stop_possible();
}

QUERN_ALWAYS_INLINE void call_item::settle_as_task(state_base& state, const typed& as) noexcept {
    if (context* const here = current_context()) {
        here->root().task().result = &state;
    }
    if (has_no_token(as)) [[likely]] {
        call_and_drop(as, task_body::part_of::task);
    } else {
        settle_with_token(as, task_body::part_of::task);
    }
}

inline void call_item::settle_in_caller(const typed& as) noexcept {
    if (has_no_token(as)) {
        const under_signal hidden(nullptr, true);
        call_and_drop(as, task_body::part_of::caller);
    } else {
        settle_with_token(as, task_body::part_of::caller);
    }
}

}  // namespace quern::detail
