// SPDX-License-Identifier: BSL-1.0
// Waits for a shared state with a limit: a deadline, a stop token, or both. State, timer and stop
// callback may all wake the waiter; the first one to claim the wait does. The others may still be
// at it when the caller returns, so the wait is an object of its own, which lives until all are
// done. When a limit has come first, the caller takes it out of the state's chain.
#include <quern/scheduler/detail/pool.hpp>
#include <quern/task/detail/shared_state.hpp>
#include <quern/task/this_task.hpp>

#include <atomic>
#include <stop_token>

namespace quern::detail {

namespace {

class timed_wait final : public leaving_waiter, public timer, public in_blocks {
public:
    timed_wait() noexcept
        : leaving_waiter([](state_waiter& self) noexcept -> state_waiter* {
              auto& wait = static_cast<timed_wait&>(self);
              wait.wake(resume);
              wait.release();
              return nullptr;
          }),
          timer([](timer& self) noexcept {
              auto& wait = static_cast<timed_wait&>(self);
              wait.wake(resume_in_turn);
              wait.release();
          }) {}

    /// One more party that will call release().
    void add_reference() noexcept { m_references.fetch_add(1, std::memory_order_relaxed); }
    void release() noexcept {
        if (m_references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }

    /// The destructor of the callback returns when it no longer accesses this.
    void wait(context* here, const stop_or_time& limit, const wait_reason& why) noexcept {
        const std::stop_callback on_stop(limit.stop, [this] { wake(resume_in_turn); });
        if (here == nullptr) {
            sleep_until(limit.deadline, why);
        } else if (limit.deadline == k_no_deadline) {
            leave_stack(why);
        } else {
            suspend_until(here->host().home(), limit.deadline, why);
        }
    }

    bool of_thread = false;

    static constexpr clock::time_point k_no_deadline = clock::time_point::max();

private:
    void leave_stack(const wait_reason& why) noexcept {
        auto publish = [this](context& self) { return m_task.register_waiter(self); };
        suspend(publish, why);
    }

    void suspend_until(pool& where, clock::time_point deadline, const wait_reason& why) noexcept {
        add_reference();
        where.set_timer(*this, deadline);
        leave_stack(why);
        if (where.time().timers().cancel(*this)) {
            release();
        }
    }

    void sleep_until(clock::time_point deadline, const wait_reason& why) noexcept {
        if (deadline == k_no_deadline) {
            m_thread.wait(why);
        } else if (!m_thread.wait_until(deadline)) {
            m_claimed.store(true, std::memory_order_relaxed);  // a later event is ignored
        }
    }

    void wake(void (&by)(context&) noexcept) noexcept {
        if (m_claimed.exchange(true, std::memory_order_relaxed)) {
            return;
        }
        if (of_thread) {
            m_thread.set();
        } else if (context* waiting = m_task.complete()) {
            by(*waiting);
        }
    }

    std::atomic<int> m_references{2};  // the waiting caller's and the state's
    std::atomic<bool> m_claimed{false};
    completion<std_atomics, context> m_task;
    external_event m_thread;
};

}  // namespace

bool state_base::wait_until(timer::clock::time_point deadline) {
    return ready() || wait_within({std::stop_token(), deadline});
}

bool state_base::wait_until(const stop_or_time& limit) {
    return ready() || (!limit.stop.stop_requested() && wait_within(limit));
}

bool state_base::wait_within(const stop_or_time& limit) {
    if (limit.deadline <= timer::clock::now()) {  // check only: a poll needs no timer
        start_if_deferred();
        if (current_context() != nullptr) {
            this_task::yield();  // nor block the worker that the producer needs
        }
        return ready();
    }
    auto* wait = new timed_wait;
    context* const here = current_context();
    wait->of_thread = here == nullptr;
    if (!add_waiter(*wait)) {
        wait->release();
        wait->release();
        return true;
    }
    wait->wait(here, limit, {&k_wait, this});
    if (remove_waiter(*wait)) {
        wait->release();  // in the state's place
    }
    wait->release();
    return ready();
}

}  // namespace quern::detail
