// SPDX-License-Identifier: BSL-1.0
// The outcome of user code: a value, nothing, or an exception. Uninitialised until it is filled, so
// that a child run directly by its parent costs nothing.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/task/exceptions.hpp>

#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace quern::detail {

struct unit {};

template <class T>
using unit_if_void = std::conditional_t<std::is_void_v<T>, unit, T>;

/// A reference result is stored as a pointer; a const value is stored non-const so that it can be
/// moved out.
template <class T>
using stored_result = std::conditional_t<std::is_reference_v<T>, std::add_pointer_t<T>,
                                         unit_if_void<std::remove_cv_t<T>>>;

/// Calls `f` and returns its result in stored form. A plain call, because std::invoke's layers keep
/// gcc from inlining a small recursion into itself.
template <class F, class... Args>
QUERN_ALWAYS_INLINE auto call_stored(F&& f, Args&&... args) {
    using R = std::invoke_result_t<F, Args...>;
    if constexpr (std::is_void_v<R>) {
        std::forward<F>(f)(std::forward<Args>(args)...);
        return unit{};
    } else if constexpr (std::is_reference_v<R>) {
        return std::addressof(std::forward<F>(f)(std::forward<Args>(args)...));
    } else {
        return std::forward<F>(f)(std::forward<Args>(args)...);
    }
}

/// Empties what a task owns when its call ends: after the task's locals and holds, if it is
/// declared before the task_body, and before the result is known to others.
template <class T>
class emptied_at_end {
public:
    explicit emptied_at_end(std::optional<T>& owned) noexcept : m_owned(owned) {}
    emptied_at_end(const emptied_at_end&) = delete;
    emptied_at_end& operator=(const emptied_at_end&) = delete;
    QUERN_ALWAYS_INLINE ~emptied_at_end() { m_owned.reset(); }

private:
    std::optional<T>& m_owned;
};

/// Requires: set exactly once before it is taken, taken at most once.
template <class R>
class late_outcome {
public:
    late_outcome() noexcept {}
    late_outcome(const late_outcome&) = delete;
    late_outcome& operator=(const late_outcome&) = delete;
    ~late_outcome() {}

    template <class F>
    void set_from(F&& f) noexcept {
        try {
            new (&m_value) stored_result<R>(detail::call_stored(std::forward<F>(f)));
            m_failed = false;
        } catch (...) {
            new (&m_error) std::exception_ptr(std::current_exception());
            m_failed = true;
        }
    }

    /// Moves the value out or throws the exception. Destroys the stored outcome.
    stored_result<R> take() {
        if (m_failed) {
            std::exception_ptr error = std::move(m_error);
            m_error.~exception_ptr();
            std::rethrow_exception(std::move(error));
        }
        struct destroyer {
            stored_result<R>& value;
            ~destroyer() { std::destroy_at(&value); }
        } const at_end{m_value};
        return std::move(m_value);
    }

    /// Destroys the stored outcome, because another child has thrown.
    void drop() noexcept {
        if (m_failed) {
            report_exception(std::move(m_error), exception_origin::later_exception);
            m_error.~exception_ptr();
        } else {
            std::destroy_at(&m_value);
        }
    }

private:
    union {
        stored_result<R> m_value;
        std::exception_ptr m_error;
    };
    bool m_failed;
};

/// Takes the outcome in the function's own return type: a pointer becomes a reference again.
template <class R>
R take_as(late_outcome<R>& outcome) {
    if constexpr (std::is_void_v<R>) {
        outcome.take();
    } else if constexpr (std::is_reference_v<R>) {
        return static_cast<R>(*outcome.take());
    } else {
        return outcome.take();
    }
}

}  // namespace quern::detail
