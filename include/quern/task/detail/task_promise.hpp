// SPDX-License-Identifier: BSL-1.0
// The promise of a quern::task: its result, and how the coroutine begins and ends. Chosen by
// std::coroutine_traits in coroutine.hpp.
#pragma once

#include <quern/task/await.hpp>
#include <quern/task/detail/coroutine_runner.hpp>

#include <coroutine>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

namespace quern {

template <class T>
class task;

namespace detail {

/// The end of a coroutine. Its frame stays; the runner notifies the awaiting parent.
struct final_awaiter {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
        task_parent* const parent = ended.promise().parent;
        if (coroutine_runner* there = ended.promise().runner) {
            there->tell_next(parent);
            return;
        }
        coroutine_runner here;
        here.tell_next(parent);
        here.run();
    }
    void await_resume() const noexcept {}
};

/// A promise with its result. What differs between T and void is in task_promise.
template <class T>
class task_result : public task_promise_base {
public:
    std::suspend_always initial_suspend() const noexcept { return {}; }
    final_awaiter final_suspend() const noexcept { return {}; }
    template <class Awaitable>
    decltype(auto) await_transform(Awaitable&& awaitable) {
        return detail::know_runner(std::forward<Awaitable>(awaitable));
    }
    void unhandled_exception() noexcept {
        m_result.template emplace<k_error>(std::current_exception());
    }

    /// Moves the value out or throws the exception. Requires: ended.
    T take() {
        if (m_result.index() == k_error) {
            std::rethrow_exception(std::move(*std::get_if<k_error>(&m_result)));
        }
        [[maybe_unused]] auto& value = *std::get_if<k_value>(&m_result);
        if constexpr (std::is_void_v<T>) {
            return;
        } else if constexpr (std::is_reference_v<T>) {
            return static_cast<T>(*value);
        } else {
            return std::move(value);
        }
    }

protected:
    static constexpr std::size_t k_value = 1;
    static constexpr std::size_t k_error = 2;
    std::variant<std::monostate, stored_result<T>, std::exception_ptr> m_result;
};

template <class T>
class task_promise : public task_result<T> {
public:
    task<T> get_return_object() noexcept;

    template <class U = T>
        requires std::is_constructible_v<T, U&&>
    void return_value(U&& value) {
        if constexpr (std::is_reference_v<T>) {
            T bound = static_cast<U&&>(value);
            this->m_result.template emplace<this->k_value>(std::addressof(bound));
        } else {
            this->m_result.template emplace<this->k_value>(std::forward<U>(value));
        }
    }
};

template <>
class task_promise<void> : public task_result<void> {
public:
    task<void> get_return_object() noexcept;
    void return_void() noexcept { m_result.emplace<k_value>(); }
};

/// The promise of a coroutine with a parameter T&&. Adds a warning and no member, so it is used as
/// its base.
template <class T>
class rvalue_promise final : public task_promise<T> {
public:
    [[deprecated(
        "quern: this coroutine keeps no copy of a parameter T&&, which mostly is a temporary that "
        "ends before the coroutine: take it by value")]] rvalue_promise() noexcept = default;
};

}  // namespace detail
}  // namespace quern
