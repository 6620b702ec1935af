// SPDX-License-Identifier: BSL-1.0
// Runs coroutines in a loop that resumes one after the other, so a chain of coroutines takes no
// more stack than one. A waiting coroutine is a ready item in its own frame, which is queued when
// the wait ends. Used by all awaitables of the runtime (await.hpp, sync/detail/co_waiting.hpp).
#pragma once

#include <quern/base/detail/blocks.hpp>
#include <quern/scheduler/detail/wait_reason.hpp>
#include <quern/scheduler/work.hpp>
#include <quern/task/detail/enough_stack.hpp>
#include <quern/task/stop.hpp>

#include <coroutine>
#include <type_traits>
#include <utility>

namespace quern::detail {

class coroutine_runner;

/// Notified when a quern::task has ended and its frame is suspended for good. Lies in the frame of
/// the awaiting coroutine, or in the state of the future from start().
class task_parent {
public:
    virtual void ended(coroutine_runner& here) noexcept = 0;

protected:
    ~task_parent() = default;
};

/// Identity of the coroutines that one start() runs, for stop requests, locks and reports. Lives
/// until the first of them has ended.
class coroutine_root : public task_parent {
public:
    const stop_signal& stop() const noexcept { return m_stop; }
    /// The state that becomes ready at their end.
    virtual const void* result() const noexcept = 0;
    /// Identifies these coroutines in the word of a lock, by their stop signal.
    static std::uintptr_t holder(const stop_signal* its) noexcept {
        return k_coroutine_holder |
               (its != nullptr ? static_cast<std::uintptr_t>(its->m_coroutine) << 1 : 0);
    }

protected:
    explicit coroutine_root(const std::stop_token& token) noexcept : m_stop(token) {
        m_stop.m_coroutine = new_number();
    }
    ~coroutine_root() = default;

private:
    /// Not 0; wraps after 2^32.
    static std::uint32_t new_number() noexcept;

    stop_signal m_stop;
};

/// Runs coroutines one after the other. Lies on the stack of the code that runs them: a suspended
/// coroutine has no runner and gets a new one when it is resumed. This transfers control without
/// stack depth and without tail calls, which gcc does not make below -O2.
class coroutine_runner {
public:
    coroutine_runner() noexcept = default;
    /// Takes the attributes of the item that runs it, for later resumptions.
    explicit coroutine_runner(const runnable& item, const coroutine_root* root) noexcept
        : m_name(item.name), m_site(item.site), m_root(root), m_lasting(item) {}

    /// What to do as soon as the requesting coroutine has been left: one of the two.
    void run_next(std::coroutine_handle<> next) noexcept { m_next = next; }
    void tell_next(task_parent* parent) noexcept { m_ended = parent; }

    /// Does what was requested, and what that requests in turn. True: `until` would be next.
    /// Coroutines of other libraries may call this from deep recursion.
    bool run(std::coroutine_handle<> until = {}) {
        return on_enough_stack([this, until] { return run_here(until); });
    }

    /// let_go(): foreign code may resume and end the coroutine elsewhere from now on, so this stack
    /// does not run under its signal any more. take_up(): the coroutine stayed here.
    void let_go() const noexcept {
        if (m_root != nullptr) {
            go_under_signal(nullptr);
        }
    }
    void take_up() const noexcept {
        if (m_root != nullptr) {
            go_under_signal(&m_root->stop());
        }
    }

    /// Gives the item what it needs to resume the coroutine. Returns the coroutine's root, or null.
    const coroutine_root* lend_attributes(runnable& item) const noexcept {
        item.name = m_name;
        item.site = m_site;
        item.last_as(m_lasting);
        return m_root;
    }

private:
    bool run_here(std::coroutine_handle<> until) {
        const under_signal running(m_root != nullptr ? &m_root->stop() : nullptr);
        for (;;) {
            if (task_parent* parent = std::exchange(m_ended, nullptr)) {
                parent->ended(*this);
            }
            if (!m_next || m_next == until) {
                return static_cast<bool>(m_next);
            }
            std::exchange(m_next, {}).resume();
        }
    }

    std::coroutine_handle<> m_next;
    task_parent* m_ended = nullptr;
    const char* m_name = nullptr;
    const void* m_site = nullptr;
    const coroutine_root* m_root = nullptr;
    lasting_attributes m_lasting;
};

/// Common part of the promises of all quern::tasks.
struct task_promise_base {
    static void* operator new(std::size_t bytes) { return allocate_block(bytes); }
    static void operator delete(void* frame, std::size_t bytes) noexcept {
        free_block(frame, bytes);
    }

    /// The current runner; null when a foreign awaitable has resumed it.
    coroutine_runner* runner = nullptr;
    task_parent* parent = nullptr;  ///< set when it is started
};

/// The promise behind the handle of a quern::task, else null.
template <class Promise>
task_promise_base* task_promise_of(std::coroutine_handle<Promise> h) noexcept {
    if constexpr (std::is_base_of_v<task_promise_base, Promise>) {
        return &h.promise();
    } else {
        return nullptr;
    }
}

/// A waiting coroutine, as a ready item in its own frame, so that nothing is allocated. Base of
/// awaiters; the awaited object calls resume() when the wait ends.
class suspended_coroutine : runnable {
public:
    using sets_runner = void;

    /// Makes it ready in its pool. Called once, at any time after leave(), on any thread. The
    /// object may be destroyed when this returns.
    void resume() noexcept;

    /// The pool in which it will be made ready. Requires: it waits.
    pool& waits_in() const noexcept { return *reinterpret_cast<pool*>(next); }

protected:
    suspended_coroutine() noexcept : runnable(resume_queued, false) {}

    /// Records the coroutine and its pool: the calling worker's, or the default runtime's first.
    /// May start that runtime, and throw; then nothing is recorded. `why` is for reports.
    template <class Promise>
    void leave(std::coroutine_handle<Promise> waiting, const wait_reason& why) {
        leave_as(waiting, detail::task_promise_of(waiting), why);
    }

    /// Cancels a leave() on the same thread, at once: there is nothing to wait for, so it is not
    /// made ready.
    void stay() noexcept;

private:
    void leave_as(std::coroutine_handle<> waiting, task_promise_base* promise,
                  const wait_reason& why);
    static context* resume_queued(work& item);

    // Until it is queued, `next` is the address of its pool and `home` its index in the pool's list
    // of waits. With eight more bytes, the frame of a coroutine that waits for a channel would need
    // the next larger block.
    std::coroutine_handle<> m_waiting;
    task_promise_base* m_promise = nullptr;
    const coroutine_root* m_root = nullptr;  ///< lives until the coroutine has ended
};

}  // namespace quern::detail
