// SPDX-License-Identifier: BSL-1.0
// How a task without a result runs, and what becomes of an exception that leaves it.
#include <quern/task/detail/posted_task.hpp>

#include <quern/task/exceptions.hpp>

#include <exception>

namespace quern::detail {

// An exception ends the program where it was thrown, so that a debugger and a crash report see the
// calls. This needs two functions: no frame with cleanup may lie in between, and the noexcept
// function must not contain a catch.
QUERN_NOINLINE void posted_item::call_or_end(const typed& as) noexcept { call_but_for_stops(as); }
QUERN_NOINLINE void posted_item::call_but_for_stops(const typed& as) {
    try {
        as.call(*this);
    } catch (const task_cancelled&) {  // never reported
    }
}

QUERN_ALWAYS_INLINE void posted_item::call_under(const stop_signal* signal,
                                                 const typed& as) noexcept {
    const under_signal running(signal);
    if (get_exception_handler() == nullptr) {
        const std::uint32_t timed = body_begins(overhead_clock::next::task);
        call_or_end(as);
        body_ends(timed);
        end_task();
        return;
    }
    try {
        const task_body body(task_body::part_of::task);
        as.call(*this);
    } catch (...) {
        report_exception(std::current_exception(), exception_origin::posted_task);
    }
}

QUERN_ALWAYS_INLINE void posted_item::call(const typed& as) noexcept {
    if (as.stop == nullptr) {
        call_under(nullptr, as);
        return;
    }
    const stop_signal own(std::move(*as.stop(*this)));
    if (!own.asks_by_token()) {
        call_under(own.if_token(), as);
    }
}

context* posted_item::run_queued(const typed& as) noexcept {
    return detail::run_from_queue(
        *this,
        [&] {
            call(as);
            as.destroy(*this);
        },
        [] {});
}

}  // namespace quern::detail
