// SPDX-License-Identifier: BSL-1.0
// Where exceptions go that nobody gets: the exception of a future that is dropped, the second one
// of two children that fail, what leaves a posted task. Every place of the runtime that would let
// an exception fall calls report_exception instead, so that each reaches one observer: whoever
// waits, or the handler that the program has set.
#pragma once

#include <cstdint>
#include <exception>

namespace quern {

/// Why nobody else gets an exception.
enum class exception_origin : std::uint8_t {
    unobserved_future,  ///< the last future of it was destroyed before anybody asked
    unobserved_group,   ///< a task_group was destroyed without a wait() that could throw it
    later_exception,    ///< another one of the same join, scope, loop or group was thrown first
    posted_task,        ///< it has left a task of post()
};

/// Called with an exception that reaches nobody else, on the thread that would have dropped it. Any
/// number of threads may call it at once. It must not throw, nor wait for anything that suspends.
using exception_handler = void (*)(std::exception_ptr error, exception_origin where) noexcept;

/// Sets the handler of the process and returns the one before; null is the default: an exception of
/// a posted task ends the program as with std::thread, the others are ignored.
///
/// An exception counts as observed when get(), wait() or co_await has thrown it, or a combinator
/// has taken it over; of a shared_future, when one of its holders has got it. has_exception()
/// observes nothing. task_cancelled is never reported, nor is std::future_errc::broken_promise in a
/// future: they tell of a wish and of a lost end, and nobody has thrown them.
///
/// Thread safety: any thread, any time; a call that has begun ends with the handler it began with.
/// Cost: none where nothing is thrown.
///
///     quern::set_exception_handler([](std::exception_ptr, quern::exception_origin) noexcept {
///         std::fputs("an exception was lost\n", stderr);
///     });
exception_handler set_exception_handler(exception_handler handler) noexcept;

/// The present handler; null: the default.
exception_handler get_exception_handler() noexcept;

namespace detail {

/// Gives an exception to the handler, or does what the default is.
void report_exception(std::exception_ptr error, exception_origin where) noexcept;

}  // namespace detail
}  // namespace quern
