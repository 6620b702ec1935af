// SPDX-License-Identifier: BSL-1.0
// Waiting with a limit, a deadline, a stop token or both: the usual queued waiter, and a timer or a
// stop callback. When the limit comes, the timer, the outside thread itself or the thread that
// requests the stop takes the waiter out of the queue under the primitive's lock, as a waker would,
// so exactly one of them wakes it. Protocol: src/sync/README.md, "Limits".
// For the sources of this layer; the public headers need only the steady clock's time point.
#pragma once

#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/stop_or_time.hpp>
#include <quern/sync/detail/waiting.hpp>

#include <atomic>
#include <chrono>
#include <stop_token>

namespace quern::detail {

inline bool has_passed(timer::clock::time_point deadline) noexcept {
    return deadline <= timer::clock::now();
}
inline bool has_passed(const std::stop_token& stop) noexcept { return stop.stop_requested(); }
inline bool has_passed(const stop_or_time& limit) noexcept {
    return limit.stop.stop_requested() || has_passed(limit.deadline);
}

/// The end of a withdrawal. The waiter may be destroyed when this returns.
inline bool wake_expired(waiter& w) noexcept {
    if (w.kind == waiter::sleeper::task) {
        resume_in_turn(*w.suspended);
    } else {
        w.wake();
    }
    return true;
}

/// The timer of one task's wait. Lies on its frame.
template <class Withdraw>
class wait_limit final : public timer {
public:
    explicit wait_limit(Withdraw& withdraw) noexcept : timer(ring), m_withdraw(withdraw) {}

    /// Called after `self` has been woken. Returns when the timer no longer accesses the frame or
    /// the primitive. May suspend if the timer is firing.
    void end(const waiter& self, pool& where) noexcept {
        if (!self.expired || self.late) {  // else the timer has woken it, as its last access
            end_unless_it_woke(where);
        }
    }

    /// The same for a waiter that the timer has not woken.
    void end_unless_it_woke(pool& where) noexcept {
        if (where.time().timers().cancel(*this) || m_rung.done()) {
            return;
        }
        auto publish = [this](context& left) { return m_rung.register_waiter(left); };
        suspend(publish, {&k_timer_wait});
    }

private:
    static constexpr wait_kind k_timer_wait{"the timer of a wait that has ended", 0, nullptr, true};

    static void ring(timer& due) noexcept {
        auto& self = static_cast<wait_limit&>(due);
        if (self.m_withdraw()) {
            return;  // the frame may be destroyed
        }
        if (context* waiting = self.m_rung.complete()) {
            resume(*waiting);
        }
    }

    Withdraw& m_withdraw;
    completion<std_atomics, context> m_rung;
};

/// As wait_in(), with a deadline. False: it has passed, and `self` did not get what it waited for.
/// `enqueue()` runs after the timer is set. If `self` is late, it sets `self.expired` instead of
/// queueing, or gives it what it waits for. `withdraw()` takes `self` out of its queue, ensures
/// that it is woken, and does not access it afterwards. False: a waker has taken it out, or it is
/// not queued yet and now `late`.
template <class Enqueue, class Withdraw>
bool wait_in_until(waiter& self, const wait_reason& why, timer::clock::time_point deadline,
                   Enqueue&& enqueue, Withdraw&& withdraw) noexcept {
    context* const here = current_context();
    if (here == nullptr) {
        if (enqueue() && !self.event.wait_until(deadline)) {
            withdraw();
            self.event.wait();
        }
        return !self.expired;
    }
    pool& where = here->host().home();
    wait_limit limit(withdraw);
    auto publish = [&](context& left) {
        self.stands_for(left);
        where.set_timer(limit, deadline);  // first: after enqueue() the frame may be destroyed
        return enqueue();
    };
    suspend(publish, why);
    limit.end(self, where);
    return !self.expired;
}

/// The same until a stop is requested. `withdraw()` may run in the constructor of the callback,
/// before `self` is queued, or on the requesting thread. The destructor of the callback returns
/// when that thread no longer accesses the frame or the primitive.
template <class Enqueue, class Withdraw>
bool wait_in_until(waiter& self, const wait_reason& why, const std::stop_token& stop,
                   Enqueue&& enqueue, Withdraw&& withdraw) noexcept {
    const std::stop_callback on_stop(stop, [&withdraw] { withdraw(); });
    detail::wait_in(self, why, enqueue);
    return !self.expired;
}

/// The same until the deadline or a stop request, whichever comes first. That one withdraws the
/// waiter; the other one does nothing, so that only one of them is a limit as above.
template <class Enqueue, class Withdraw>
bool wait_in_until(waiter& self, const wait_reason& why, const stop_or_time& limit,
                   Enqueue&& enqueue, Withdraw&& withdraw) noexcept {
    std::atomic<bool> has_come{false};
    auto withdraw_if_first = [&has_come, &withdraw] {
        return !has_come.exchange(true, std::memory_order_relaxed) && withdraw();
    };
    bool was_stopped = false;  // written by the callback, read after its end
    const auto stop = [&was_stopped, &withdraw_if_first] { was_stopped = withdraw_if_first(); };
    context* const here = current_context();
    if (here == nullptr) {
        const std::stop_callback on_stop(limit.stop, stop);
        if (enqueue() && !self.event.wait_until(limit.deadline)) {
            withdraw_if_first();
            self.event.wait();
        }
        return !self.expired;
    }
    pool& where = here->host().home();
    wait_limit timed(withdraw_if_first);
    {
        const std::stop_callback on_stop(limit.stop, stop);
        auto publish = [&](context& left) {
            self.stands_for(left);
            where.set_timer(timed, limit.deadline);
            return enqueue();
        };
        suspend(publish, why);
    }
    if (was_stopped) {
        timed.end_unless_it_woke(where);
    } else {
        timed.end(self, where);
    }
    return !self.expired;
}

}  // namespace quern::detail
