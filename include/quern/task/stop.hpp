// SPDX-License-Identifier: BSL-1.0
// Cancellation: the error that stands for work that was not done, and who may ask the task that
// runs here to stop. Cancelling is a request: what has not begun is dropped, what runs may look and
// return early; nothing is interrupted. The requests are those of std::stop_token.
#pragma once

#include <quern/scheduler/context.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <stop_token>
#include <utility>

namespace quern {

/// Thrown in place of a result that a stop request has made impossible: by get() of a task that was
/// dropped before it began, by a loop, a scope or a group whose token was stopped before its end.
class task_cancelled : public std::exception {
public:
    /// "quern: a task was cancelled", "quern: the task 'norm' was cancelled", and so on: what was
    /// cancelled, and the name of the task that it is or was part of, if that has one.
    enum class subject : std::uint8_t { task, group, loop, scope };
    explicit task_cancelled(subject what, const char* task_name = nullptr) noexcept;

    const char* what() const noexcept override { return m_text.data(); }

private:
    std::array<char, 160> m_text;
};

namespace detail {

/// Who may ask a task to stop: a token of the user's, a group or loop itself, and those of the
/// task around. Lies on the stack of the one that runs under it, or in the object that many do.
class stop_signal {
public:
    explicit stop_signal(std::stop_token token, const stop_signal* around = nullptr) noexcept
        : m_token(std::move(token)), m_around(around) {}
    stop_signal(const stop_signal&) = delete;
    stop_signal& operator=(const stop_signal&) = delete;

    const std::stop_token& token() const noexcept { return m_token; }
    bool asks_by_token() const noexcept { return m_token.stop_requested(); }
    /// Itself, or null when there is no token that could be stopped.
    const stop_signal* if_token() const noexcept {
        return m_token.stop_possible() ? this : nullptr;
    }

    /// Nothing but a hint: what the others have done is not made visible by it.
    /// True: it was not raised before.
    bool raise() noexcept { return !m_raised.exchange(true, std::memory_order_relaxed); }
    void lower() noexcept { m_raised.store(false, std::memory_order_relaxed); }
    bool raised() const noexcept { return m_raised.load(std::memory_order_relaxed); }

    /// Whether this one asks; and whether this one or one around it does.
    QUERN_ALWAYS_INLINE bool asks() const noexcept { return raised() || asks_by_token(); }
    bool somebody_asks() const noexcept {
        const stop_signal* s = this;
        while (s != nullptr && !s->asks()) {
            s = s->m_around;
        }
        return s != nullptr;
    }

    /// The token that tells of it, or of the nearest one around that has one.
    std::stop_token nearest_token() const;

protected:
    using token_function = std::stop_token (*)(const stop_signal& self);
    stop_signal(std::stop_token token, token_function make_token) noexcept
        : m_token(std::move(token)), m_make_token(make_token) {}

private:
    friend class coroutine_root;

    std::atomic<bool> m_raised{false};
    std::uint32_t m_coroutine = 0;  ///< the number of the coroutine that was started with it, or 0
    const std::stop_token m_token;
    const stop_signal* const m_around = nullptr;
    const token_function m_make_token = nullptr;  ///< of groups, which make theirs when asked
};

/// In place of a token that nobody can stop, so that most tasks are smaller by a pointer.
struct no_token {
    static constexpr bool stop_requested() noexcept { return false; }
};

/// As task_root(), without a call on a worker.
QUERN_ALWAYS_INLINE context* quick_task_root() noexcept {
    context* const here = current_context();
    return here != nullptr ? &here->root() : task_root();
}

/// While it lives, the task that runs here is under that signal. Null changes nothing, unless the
/// one before is to be hidden from what is called here in place of a task of its own. Does nothing
/// where there is no task.
class under_signal {
public:
    explicit under_signal(const stop_signal* signal, bool hides_the_one_before = false) noexcept {
        if (signal == nullptr && !hides_the_one_before) {
            return;
        }
        m_root = quick_task_root();
        if (m_root != nullptr) {
            m_before = std::exchange(m_root->task().stop, signal);
        }
    }
    under_signal(const under_signal&) = delete;
    under_signal& operator=(const under_signal&) = delete;
    ~under_signal() {
        if (m_root != nullptr) {
            m_root->task().stop = m_before;
        }
    }

private:
    context* m_root = nullptr;
    const stop_signal* m_before = nullptr;
};

/// The task that runs here is under that signal, or none, from now on; until the end of the
/// under_signal around.
inline void go_under_signal(const stop_signal* signal) noexcept {
    if (context* const root = quick_task_root()) {
        root->task().stop = signal;
    }
}

/// The signal of the task that runs here, or null.
inline const stop_signal* running_signal() noexcept {
    const context* const root = quick_task_root();
    return root != nullptr ? root->task().stop : nullptr;
}

/// The error of a task that was dropped.
std::exception_ptr cancelled_task(const char* name) noexcept;

/// Throws for a part of the running task when its token was stopped.
void throw_if_stopped(const std::stop_token& token, task_cancelled::subject what);

}  // namespace detail

namespace this_task {

/// The token by which the running task may be asked to stop: that of its attributes, else of its
/// group; inside a scope or loop the token that was given to that. One that cannot be stopped if
/// there is none, and on a thread that runs no task.
///
/// Parts of a loop and children of a scope have what their caller has, wherever they run. A
/// function of fork_join has it only when no other worker has taken it, so it should capture the
/// token. Tasks of async, post, then, start and of groups do not inherit: give it to them.
///
/// Throws std::bad_alloc, in a task of a group.
///
///     while (!quern::this_task::stop_requested()) { refine(); }
std::stop_token stop_token();

/// Whether it should stop: its token says so, or that of somebody around it, or a sibling in the
/// same group, scope or loop has thrown. A few ns.
bool stop_requested() noexcept;

}  // namespace this_task
}  // namespace quern
