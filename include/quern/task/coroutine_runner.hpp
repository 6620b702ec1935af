// SPDX-License-Identifier: BSL-1.0
// How coroutines are run: by a loop that resumes one after the other, so that a chain of them is as
// deep on the stack as one. And how one waits: as a ready item in its own frame, which is queued
// when what it waits for has come. Under every awaitable of the runtime (await.hpp,
// sync/co_waiting.hpp).
#pragma once

#include <quern/base/blocks.hpp>
#include <quern/scheduler/wait_reason.hpp>
#include <quern/scheduler/work.hpp>
#include <quern/task/enough_stack.hpp>
#include <quern/task/stop.hpp>

#include <coroutine>
#include <type_traits>
#include <utility>

namespace quern::detail {

class coroutine_runner;

/// Told when a quern::task has ended and its frame is suspended for good. Lies in the frame of the
/// coroutine that awaits the task, or in the state of the future that start() gave.
class task_parent {
public:
    virtual void ended(coroutine_runner& here) noexcept = 0;

protected:
    ~task_parent() = default;
};

/// Who coroutines are that one start() runs, to stop requests, locks and reports. Lives until the
/// first of them has ended.
class coroutine_root : public task_parent {
public:
    const stop_signal& stop() const noexcept { return m_stop; }
    /// The state that their end makes ready.
    virtual const void* result() const noexcept = 0;
    /// Stands for them in the word of a lock, by the signal under which they run.
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
    /// Not 0; the same again after 2^32.
    static std::uint32_t new_number() noexcept;

    stop_signal m_stop;
};

/// Runs coroutines one after the other. Lies on the stack of whoever runs them; a coroutine that
/// is suspended has none, and gets another one when it is resumed. That transfers control without
/// depth and without asking the compiler for tail calls, which gcc does not make below -O2.
class coroutine_runner {
public:
    coroutine_runner() noexcept = default;
    /// With the attributes of the item that runs it, for whoever resumes the coroutine later.
    explicit coroutine_runner(const runnable& item, const coroutine_root* root) noexcept
        : m_name(item.name),
          m_site(item.site),
          m_root(root),
          m_urgency(item.urgency),
          m_stack(item.stack) {}

    /// What is to be done as soon as the coroutine that asks for it has been left: one of the two.
    void run_next(std::coroutine_handle<> next) noexcept { m_next = next; }
    void tell_next(task_parent* parent) noexcept { m_ended = parent; }

    /// Does what was asked for, and what that asks for in turn. True: `until` would be next.
    /// Those of other libraries may come here from deep in a recursion.
    bool run(std::coroutine_handle<> until = {}) {
        return on_enough_stack([this, until] { return run_here(until); });
    }

    /// The coroutine may go on elsewhere from now on, by somebody who knows nothing of runners, and
    /// end there: what runs here is not under its signal any more. And: it has stayed.
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

    /// Gives what the item will need to resume it; returns what it was started as, or null.
    const coroutine_root* lend_attributes(runnable& item) const noexcept {
        item.name = m_name;
        item.site = m_site;
        item.urgency = m_urgency;
        item.stack = m_stack;
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
    priority m_urgency = priority::normal;
    stack_class m_stack = stack_class::small;
};

/// What the promise of every quern::task has.
struct task_promise_base {
    // Of the frame.
    static void* operator new(std::size_t bytes) { return allocate_block(bytes); }
    static void operator delete(void* frame, std::size_t bytes) noexcept {
        free_block(frame, bytes);
    }

    /// Who runs it now; null when an awaitable of somebody else has resumed it.
    coroutine_runner* runner = nullptr;
    task_parent* parent = nullptr;  ///< from the moment it is started
};

/// The promise behind a handle if it is that of a quern::task, else null.
template <class Promise>
task_promise_base* task_promise_of(std::coroutine_handle<Promise> h) noexcept {
    if constexpr (std::is_base_of_v<task_promise_base, Promise>) {
        return &h.promise();
    } else {
        return nullptr;
    }
}

/// A coroutine that waits, as a ready item in its own frame, so that nothing is allocated. Base of
/// awaiters; whatever they wait for calls go_on() when it has come.
class suspended_coroutine : runnable {
public:
    using sets_runner = void;

    /// Makes it ready in its pool. Called once, at any time after leave(), on any thread; it may be
    /// gone then.
    void go_on() noexcept;

protected:
    suspended_coroutine() noexcept : runnable(resume_queued, false) {}

    /// Notes who goes on and where: the pool of the worker that calls, or the default runtime's
    /// first. May start that runtime, and throw; then nothing has been noted. `why` is for reports.
    template <class Promise>
    void leave(std::coroutine_handle<Promise> waiting, const wait_reason& why) {
        leave_as(waiting, detail::task_promise_of(waiting), why);
    }

    /// It has left, and nothing is to be waited for any more: it is not made ready. On the thread
    /// that has called leave(), at once.
    void stay() noexcept;

private:
    void leave_as(std::coroutine_handle<> waiting, task_promise_base* promise,
                  const wait_reason& why);
    static context* resume_queued(work& item);

    // Until it is queued, `next` is the address of its pool, and `home` the number of its note
    // there: with eight bytes more, a frame that waits for a channel would need the next larger
    // block.
    std::coroutine_handle<> m_waiting;
    task_promise_base* m_promise = nullptr;
    const coroutine_root* m_root = nullptr;  ///< lives until the coroutine has ended
};

}  // namespace quern::detail
