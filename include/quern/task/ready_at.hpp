// SPDX-License-Identifier: BSL-1.0
// make_ready_future_at and _after: futures that become ready at a time. As in HPX.
#pragma once

#include <quern/task/future.hpp>

#include <chrono>
#include <type_traits>
#include <utility>

namespace quern {

namespace detail {
future<void> ready_at(timer::clock::time_point due);
}

/// A future that becomes ready at a time point, with the value if one is given. No task or thread
/// waits meanwhile. If the time has passed, it becomes ready as soon as a worker checks.
///
/// Any clock; the time is converted at the call, so later adjustments of the clock have no effect.
/// A dropped future keeps its timer until its time, and the end of its runtime waits for it.
///
/// Errors: get() throws what moving the value throws. Throws std::bad_alloc.
/// Thread safety: any thread; outside a worker the default runtime is used. Cost: one allocation
/// (two with a value), a timer, one pass through the ready queue.
///
///     auto late = quern::make_ready_future_after(10ms, fallback);
///     auto first = quern::when_any(std::move(answer), std::move(late)).get();
template <class Clock, class Duration>
future<void> make_ready_future_at(const std::chrono::time_point<Clock, Duration>& when) {
    const auto now = Clock::now();  // compared first: the difference may overflow
    return detail::ready_at(when > now ? detail::due_after(when - now)
                                       : detail::timer::clock::now());
}
template <class Clock, class Duration, class T>
future<std::decay_t<T>> make_ready_future_at(const std::chrono::time_point<Clock, Duration>& when,
                                             T&& value) {
    return quern::make_ready_future_at(when).then(
        launch::sync, [value = std::decay_t<T>(std::forward<T>(value))](auto) mutable {
            return std::move(value);
        });
}

template <class Rep, class Period>
future<void> make_ready_future_after(const std::chrono::duration<Rep, Period>& time) {
    return detail::ready_at(detail::due_after(time));
}
template <class Rep, class Period, class T>
future<std::decay_t<T>> make_ready_future_after(const std::chrono::duration<Rep, Period>& time,
                                                T&& value) {
    return quern::make_ready_future_at(detail::due_after(time), std::forward<T>(value));
}

}  // namespace quern
