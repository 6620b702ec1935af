// SPDX-License-Identifier: BSL-1.0
// quern::event: a flag that tasks and outside threads can wait for. The name is HPX's.
#pragma once

#include <quern/sync/detail/co_waiting.hpp>
#include <quern/sync/detail/gate.hpp>
#include <quern/sync/detail/waiting.hpp>

#include <chrono>
#include <stop_token>
#include <utility>

namespace quern {

class condition_variable_any;

/// Set or not set; stays set until it is reset.
///
///     quern::event loaded;
///     quern::post([&] { load(table); loaded.set(); });
///     loaded.wait();
///     use(table);
///
/// What precedes a set() happens before the return of every wait() that it releases. A set() wakes
/// all present waiters in FIFO order, even if a reset() follows before they run. The event may be
/// destroyed as soon as every wait() has returned, even if the set() that released it has not. This
/// class and its neighbours abort the program if they are destroyed while anything waits in them.
/// Thread safety: any thread. Cost: one load if it is set, else one read-modify-write.
class event {
public:
    constexpr explicit event(bool is_set = false) noexcept : m_gate(is_set) {}
    event(const event&) = delete;
    event& operator=(const event&) = delete;
    ~event() { detail::refuse_if_awaited(m_gate.waiters(), "an event"); }

    /// Wakes all waiters. Does nothing if it is set.
    void set() noexcept { detail::wake_all(m_gate.open()); }

    /// Makes later waiters wait. Does nothing if it is not set.
    void reset() noexcept { m_gate.close(); }

    /// HPX's name is `occurred`.
    [[nodiscard]] bool is_set() const noexcept { return m_gate.is_open(); }

    /// Waits until it is set.
    void wait() const noexcept { wait_as({&k_wait, this}); }

    /// Waits until it is set or `stop` is requested. Returns whether it was set: false only if a
    /// stop was requested. All waits with a stop token of this folder follow these rules: what is
    /// there at once is taken, also after a request; a waiter that stops leaves the queue, and no
    /// other notices. The requester wakes it, from any thread or task.
    /// Requires: no callback of the same stop source suspends its task, since std::stop_callback
    /// identifies the requester by its thread. Cost: as wait(), and a std::stop_callback; a stop
    /// takes one step for each waiter queued before it.
    ///
    ///     quern::jthread worker([&](std::stop_token stop) {
    ///         while (came.wait(stop)) { came.reset(); work(); }
    ///     });
    bool wait(const std::stop_token& stop) const noexcept {
        return detail::wait_for_until(m_gate, {&k_wait, this}, stop);
    }

    /// wait() for coroutines, of quern::task or of another library: `co_await loaded.co_wait();`
    /// suspends the coroutine, not the stack that it runs on. The coroutine is in the same queue as
    /// waiting tasks and threads. It is resumed as after a future (task/await.hpp): as a ready item
    /// of the pool whose worker awaited, with its name, priority and stop token; outside workers in
    /// the first pool of the default runtime. It must not be destroyed while it waits. One that
    /// still waits when its runtime ends is abandoned. A stop request does not end this wait.
    /// Throws errors of starting the default runtime, before it waits. Cost: no allocation; about
    /// 120 bytes in the frame, and one pass through the ready queue.
    auto co_wait() const noexcept { return detail::co_awaitable<opening>{{*this}}; }

    /// wait(stop) for coroutines; co_await gives what wait(stop) returns. So have all waits for
    /// coroutines of this folder whose wait has a form with a stop token. A coroutine that was
    /// stopped resumes as one that was not. Cost: about 70 bytes more in the frame.
    ///
    ///     quern::task<> follow(quern::event& came, std::stop_token stop) {
    ///         while (co_await came.co_wait(stop)) { came.reset(); work(); }
    ///     }
    auto co_wait(std::stop_token stop) const noexcept {
        return detail::co_stoppable<opening_in_time>{{{*this}}, std::move(stop)};
    }

    /// wait() with a deadline. Returns whether it was set: false only if the deadline has passed.
    /// Any clock; if it is set back the wait gets longer. Cost: as wait(), and a timer.
    template <class Clock, class Duration>
    bool wait_until(const std::chrono::time_point<Clock, Duration>& when) const {
        return detail::wait_on_clock(when, [this](auto deadline) {
            return wait_as_until({&k_wait, this}, deadline);
        });
    }
    template <class Rep, class Period>
    bool wait_for(const std::chrono::duration<Rep, Period>& time) const {
        return wait_until(detail::due_after(time));
    }

    /// wait() with a stop token and a deadline: false if either of them comes first. So have all
    /// waits with a deadline of this folder.
    template <class Clock, class Duration>
    bool wait_until(const std::stop_token& stop,
                    const std::chrono::time_point<Clock, Duration>& when) const {
        return detail::wait_on_clock(stop, when, [this](const detail::stop_or_time& limit) {
            return detail::wait_for_until(m_gate, {&k_wait, this}, limit);
        });
    }
    template <class Rep, class Period>
    bool wait_for(const std::stop_token& stop,
                  const std::chrono::duration<Rep, Period>& time) const {
        return wait_until(stop, detail::due_after(time));
    }

private:
    friend class condition_variable_any;
    using opening = detail::gate_opening<event>;
    friend opening;
    using opening_in_time = detail::gate_opening_in_time<event>;
    friend opening_in_time;

    void wait_as(const detail::wait_reason& why) const noexcept {
        if (!m_gate.is_open()) {
            detail::wait_for(m_gate, why);
        }
    }
    bool wait_as_until(const detail::wait_reason& why,
                       detail::timer::clock::time_point deadline) const noexcept {
        return detail::wait_for_until(m_gate, why, deadline);
    }
    static void look(const void* copy, detail::wait_findings& into) noexcept;
    static const detail::wait_kind k_wait;

    mutable detail::task_gate m_gate;
};

}  // namespace quern
