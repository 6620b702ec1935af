// SPDX-License-Identifier: BSL-1.0
// Providers of futures: promise, packaged_task, futures_factory.
#pragma once

#include <quern/base/detail/unique_function.hpp>
#include <quern/compat/hpx/async.hpp>
#include <quern/task/promise.hpp>

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace hpx {

/// As std::promise; errors are hpx::exception. An allocator is accepted and not used.
template <class T>
class promise {
public:
    promise() = default;
    template <class Allocator>
    promise(std::allocator_arg_t, const Allocator&) {}
    promise(promise&&) noexcept = default;
    promise& operator=(promise&&) noexcept = default;

    void swap(promise& other) noexcept { m_promise.swap(other.m_promise); }
    friend void swap(promise& a, promise& b) noexcept { a.swap(b); }

    future<T> get_future(error_code& ec = throws) {
        return detail::translated(ec, [this] { return future<T>(m_promise.get_future()); });
    }
    shared_future<T> get_shared_future() { return get_future().share(); }

    template <class... Value>
    void set_value(Value&&... value) {
        detail::translated([&] { m_promise.set_value(std::forward<Value>(value)...); });
    }
    void set_exception(std::exception_ptr error) {
        detail::translated([&] { m_promise.set_exception(std::move(error)); });
    }

private:
    quern::promise<T> m_promise;
};

template <class Signature>
class packaged_task;

/// As std::packaged_task; errors are hpx::exception.
template <class R, class... Ts>
class packaged_task<R(Ts...)> {
public:
    packaged_task() noexcept = default;
    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, packaged_task> &&
                 std::is_invocable_r_v<R, std::decay_t<F>&, Ts...>)
    explicit packaged_task(F&& f) : m_parts(std::make_unique<parts>(std::forward<F>(f))) {}
    template <class Allocator, class F>
    packaged_task(std::allocator_arg_t, const Allocator&, F&& f)
        : packaged_task(std::forward<F>(f)) {}

    bool valid() const noexcept { return m_parts != nullptr; }
    void swap(packaged_task& other) noexcept { m_parts.swap(other.m_parts); }
    friend void swap(packaged_task& a, packaged_task& b) noexcept { a.swap(b); }

    future<R> get_future(error_code& ec = throws) {
        return detail::translated(ec, [this] { return checked().result.get_future(); });
    }

    void operator()(Ts... ts) {
        parts& all = checked();
        if (std::exchange(all.called, true)) {
            throw exception(error::promise_already_satisfied, "a packaged_task was called twice");
        }
        try {
            if constexpr (std::is_void_v<R>) {
                all.function(std::forward<Ts>(ts)...);
                all.result.set_value();
            } else {
                all.result.set_value(all.function(std::forward<Ts>(ts)...));
            }
        } catch (...) {
            all.result.set_exception(std::current_exception());
        }
    }
    void set_exception(std::exception_ptr error) {
        checked().result.set_exception(std::move(error));
    }
    /// A new state, for another call.
    void reset() {
        checked().result = promise<R>();
        m_parts->called = false;
    }

private:
    struct parts {
        template <class F>
        explicit parts(F&& f) : function(std::forward<F>(f)) {}
        quern::detail::unique_function<R(Ts...)> function;
        promise<R> result;
        bool called = false;
    };
    parts& checked() const {
        if (!valid()) {
            throw exception(error::no_state, "a packaged_task has no function");
        }
        return *m_parts;
    }

    std::unique_ptr<parts> m_parts;
};

namespace lcos::local {

using hpx::packaged_task;
using hpx::promise;

template <class Signature, bool Cancelable = false>
class futures_factory;

/// A function that is started once, after its future has been taken.
template <class R, bool Cancelable>
class futures_factory<R(), Cancelable> {
public:
    futures_factory() noexcept = default;
    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, futures_factory>)
    explicit futures_factory(F&& f)
        : m_task(std::make_shared<packaged_task<R()>>(std::forward<F>(f))) {}

    bool valid() const noexcept { return m_task != nullptr; }
    future<R> get_future(error_code& ec = throws) { return m_task->get_future(ec); }
    void operator()() const { (*m_task)(); }
    void post(launch how = launch::async) const {
        hpx::post(how, [task = m_task] { (*task)(); });
    }
    void apply(launch how = launch::async) const { post(how); }

private:
    std::shared_ptr<packaged_task<R()>> m_task;
};

}  // namespace lcos::local

}  // namespace hpx

template <class T, class Allocator>
struct std::uses_allocator<hpx::promise<T>, Allocator> : std::true_type {};
template <class Signature, class Allocator>
struct std::uses_allocator<hpx::packaged_task<Signature>, Allocator> : std::true_type {};
