// SPDX-License-Identifier: BSL-1.0
// The handler for exceptions without a receiver: the exception of a dropped future, the second one
// of two failing children, one that leaves a posted task. All code of the runtime that would drop
// an exception calls report_exception instead, so each exception reaches exactly one observer: a
// waiter or the handler.
#pragma once

#include <cstdint>
#include <exception>

namespace quern {

/// Why an exception has no other receiver.
enum class exception_origin : std::uint8_t {
    unobserved_future,  ///< the last future was destroyed without reading it
    unobserved_group,   ///< a task_group was destroyed without a wait() that could throw it
    later_exception,    ///< another one of the same join, scope, loop or group was thrown first
    posted_task,        ///< it left a task of post()
};

/// Called with an unobserved exception, on the thread that would have dropped it. Threads may call
/// it concurrently. It must not throw or wait for anything that suspends.
using exception_handler = void (*)(std::exception_ptr error, exception_origin where) noexcept;

/// Sets the process's handler and returns the previous one. Null is the default: an exception of a
/// posted task ends the program as with std::thread; others are ignored.
///
/// An exception counts as observed when get(), wait() or co_await has thrown it, or a combinator
/// has taken it over; for a shared_future one holder is enough. has_exception() observes nothing.
/// task_cancelled is never reported, nor is std::future_errc::broken_promise in a future: user code
/// did not throw them.
///
/// Thread safety: any thread, any time; a call in progress finishes with the handler it began with.
/// Cost: none unless an exception is thrown.
///
///     quern::set_exception_handler([](std::exception_ptr, quern::exception_origin) noexcept {
///         std::fputs("an exception was lost\n", stderr);
///     });
exception_handler set_exception_handler(exception_handler handler) noexcept;

/// The current handler; null: the default.
exception_handler get_exception_handler() noexcept;

namespace detail {

void report_exception(std::exception_ptr error, exception_origin where) noexcept;

}  // namespace detail
}  // namespace quern
