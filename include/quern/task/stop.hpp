// SPDX-License-Identifier: BSL-1.0
// Cancellation: the error for work that was not done, and the stop requests that apply to a running
// task. Cancellation is cooperative: work that has not begun is dropped, running work may poll and
// return early, nothing is interrupted. Requests are those of std::stop_token.
#pragma once

#include <quern/scheduler/detail/context.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <stop_token>
#include <utility>

namespace quern {

/// Thrown in place of a result that a stop request has prevented: by get() of a task that was
/// dropped before it began, and by a loop, scope or group whose token was stopped before its end.
class task_cancelled : public std::exception {
public:
    /// "quern: a task was cancelled", "quern: the task 'norm' was cancelled", and so on: the kind
    /// of work, and the name, if any, of the task that it is or was part of.
    enum class subject : std::uint8_t { task, group, loop, scope };
    explicit task_cancelled(subject what, const char* task_name = nullptr) noexcept;

    const char* what() const noexcept override { return m_text.data(); }

private:
    std::array<char, 160> m_text;
};

namespace detail {

/// The stop requests that apply to a task: a token of the user, a group or loop, and those of the
/// enclosing task. Lies on the stack of the task that runs under it, or in an object shared by
/// many.
class stop_signal {
public:
    explicit stop_signal(std::stop_token token, const stop_signal* around = nullptr) noexcept
        : m_token(std::move(token)), m_around(around) {}
    stop_signal(const stop_signal&) = delete;
    stop_signal& operator=(const stop_signal&) = delete;

    const std::stop_token& token() const noexcept { return m_token; }
    bool asks_by_token() const noexcept { return m_token.stop_requested(); }
    /// Itself, or null if its token cannot be stopped.
    const stop_signal* if_token() const noexcept {
        return m_token.stop_possible() ? this : nullptr;
    }

    /// A hint only: it does not make other threads' effects visible.
    /// True: it was not raised before.
    bool raise() noexcept { return !m_raised.exchange(true, std::memory_order_relaxed); }
    /// Whether it belongs to a coroutine run by start().
    bool is_of_coroutine() const noexcept { return m_coroutine != 0; }
    void lower() noexcept { m_raised.store(false, std::memory_order_relaxed); }
    bool raised() const noexcept { return m_raised.load(std::memory_order_relaxed); }

    /// is_asked(): this signal or an enclosing one.
    QUERN_ALWAYS_INLINE bool asks() const noexcept { return raised() || asks_by_token(); }
    bool is_asked() const noexcept {
        const stop_signal* s = this;
        while (s != nullptr && !s->asks()) {
            s = s->m_around;
        }
        return s != nullptr;
    }

    /// The token of this signal, or of the nearest enclosing one that has one.
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
    const token_function m_make_token = nullptr;  ///< groups create their token on demand
};

/// Placeholder for a token that cannot be stopped; saves most tasks a pointer.
struct no_token {
    static constexpr bool stop_requested() noexcept { return false; }
};

/// As task_root(), but without a call when on a worker.
QUERN_ALWAYS_INLINE context* quick_task_root() noexcept {
    context* const here = current_context();
    return here != nullptr ? &here->root() : task_root();
}

/// During its lifetime the running task is under the given signal. Null changes nothing, unless the
/// previous one must be hidden from code that is called here instead of in its own task. Does
/// nothing where no task runs.
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

/// From now on the running task is under the given signal, or none; until the end of the enclosing
/// under_signal.
inline void go_under_signal(const stop_signal* signal) noexcept {
    if (context* const root = quick_task_root()) {
        root->task().stop = signal;
    }
}

inline const stop_signal* running_signal() noexcept {
    const context* const root = quick_task_root();
    return root != nullptr ? root->task().stop : nullptr;
}

std::exception_ptr cancelled_task(const char* name) noexcept;

/// Throws on behalf of a part of the running task if its token was stopped.
void throw_if_stopped(const std::stop_token& token, task_cancelled::subject what);

}  // namespace detail

namespace this_task {

/// The token by which the running task may be asked to stop: that of its attributes, else of its
/// group; inside a scope or loop the token given to that. If there is none, or no task runs, a
/// token that cannot be stopped.
///
/// Parts of a loop and children of a scope have their caller's token, wherever they run. A function
/// of fork_join has it only if it was not stolen, so it should capture the token. Tasks of async,
/// post, then, start and of groups do not inherit it: pass it to them.
///
/// Throws std::bad_alloc, in a task of a group.
///
///     while (!quern::this_task::stop_requested()) { refine(); }
std::stop_token stop_token();

/// Whether the task should stop: by its token, by that of an enclosing task, or because a sibling
/// in the same group, scope or loop has thrown. A few ns.
bool stop_requested() noexcept;

}  // namespace this_task
}  // namespace quern
