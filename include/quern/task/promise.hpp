// SPDX-License-Identifier: BSL-1.0
// promise, packaged_task and ready futures: results that something other than a task delivers.
#pragma once

#include <quern/base/unique_function.hpp>
#include <quern/task/future.hpp>

#include <memory>
#include <utility>

namespace quern {

namespace detail {

/// The error of a promise that is given up. There from the beginning, because giving one up must
/// need no memory: it also happens where that has run out.
const std::exception_ptr& broken_promise() noexcept;

}  // namespace detail

/// The producing end of a future. As std::promise.
/// Thread safety: one producer at a time. Any thread, also one that is no worker.
template <class T>
class promise {
public:
    promise() : m_state(new detail::plain_state<T>(1)) {}
    promise(promise&&) noexcept = default;
    promise& operator=(promise&& other) noexcept {
        promise(std::move(other)).swap(*this);
        return *this;
    }
    ~promise() { abandon(); }

    void swap(promise& other) noexcept {
        std::swap(m_state, other.m_state);
        std::swap(m_retrieved, other.m_retrieved);
        std::swap(m_satisfied, other.m_satisfied);
    }

    /// Once. Throws std::future_error(future_already_retrieved, no_state).
    future<T> get_future() {
        state();
        if (std::exchange(m_retrieved, true)) {
            throw std::future_error(std::future_errc::future_already_retrieved);
        }
        return future<T>(m_state);
    }

    /// Once, of these two. Throws std::future_error(promise_already_satisfied, no_state).
    template <class... Value>
    void set_value(Value&&... value) {
        deliver([&](detail::shared_state<T>& to) {
            if constexpr (std::is_reference_v<T>) {
                to.set_value(std::addressof(value)...);
            } else {
                to.set_value(std::forward<Value>(value)...);
            }
        });
    }
    void set_exception(std::exception_ptr error) {
        deliver([&](detail::shared_state<T>& to) { to.set_error(std::move(error)); });
    }

private:
    detail::shared_state<T>& state() const {
        if (!m_state) {
            throw std::future_error(std::future_errc::no_state);
        }
        return *m_state.get();
    }

    /// The promise may be gone as soon as the state is ready, so from then on only the local
    /// reference is touched. A value whose constructor throws leaves the promise as it was.
    template <class Set>
    void deliver(Set&& set) {
        state();
        if (std::exchange(m_satisfied, true)) {
            throw std::future_error(std::future_errc::promise_already_satisfied);
        }
        const auto kept = m_state;
        try {
            set(*kept.get());
        } catch (...) {
            m_satisfied = false;
            throw;
        }
    }

    void abandon() noexcept {
        if (m_state && !m_satisfied) {
            m_state->set_error(detail::broken_promise());
        }
    }

    detail::state_ref<detail::shared_state<T>> m_state;
    bool m_retrieved = false;
    bool m_satisfied = false;
};

/// A future that is ready. One allocation.
template <class T>
future<std::decay_t<T>> make_ready_future(T&& value) {
    promise<std::decay_t<T>> p;
    p.set_value(std::forward<T>(value));
    return p.get_future();
}
inline future<void> make_ready_future() {
    promise<void> p;
    p.set_value();
    return p.get_future();
}

/// A future that throws at get().
template <class T>
future<T> make_exceptional_future(std::exception_ptr error) {
    promise<T> p;
    p.set_exception(std::move(error));
    return p.get_future();
}

template <class Signature>
class packaged_task;

/// A function whose call delivers a future. As std::packaged_task.
template <class R, class... Args>
class packaged_task<R(Args...)> {
public:
    packaged_task() noexcept : m_promise(nullptr) {}

    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, packaged_task>)
    explicit packaged_task(F&& f)
        : m_function(std::forward<F>(f)), m_promise(std::make_unique<promise<R>>()) {}

    bool valid() const noexcept { return m_promise != nullptr; }
    future<R> get_future() { return checked().get_future(); }

    /// Once. What the function throws comes out of the future.
    void operator()(Args... args) {
        promise<R>& result = checked();
        if (std::exchange(m_called, true)) {
            throw std::future_error(std::future_errc::promise_already_satisfied);
        }
        try {
            if constexpr (std::is_void_v<R>) {
                m_function(std::forward<Args>(args)...);
                result.set_value();
            } else {
                result.set_value(m_function(std::forward<Args>(args)...));
            }
        } catch (...) {
            result.set_exception(std::current_exception());
        }
    }

private:
    promise<R>& checked() const {
        if (!m_promise) {
            throw std::future_error(std::future_errc::no_state);
        }
        return *m_promise;
    }

    detail::unique_function<R(Args...)> m_function;
    std::unique_ptr<promise<R>> m_promise;
    bool m_called = false;
};

}  // namespace quern
