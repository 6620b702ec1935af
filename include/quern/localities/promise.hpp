// SPDX-License-Identifier: BSL-1.0
// Promises that all localities can fulfil and wait for.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/localities/detail/control_object.hpp>

#include <exception>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>

namespace quern::localities {

namespace detail {

template <class T>
struct promise_state {
    using kept = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

    bool try_set(kept given) {
        if (value || error) {
            return false;
        }
        value = std::move(given);
        while (!waiting.is_empty()) {
            answer(waiting.take());
        }
        return true;
    }
    void set(kept given) { require_first(try_set(std::move(given))); }
    void set_error(error_report given) {
        require_first(!value && !error);
        error = std::move(given);
        waiting.fail_all(*error);
    }
    void get(ticket<T> who) {
        if (error) {
            who.fail(*error);
        } else if (value) {
            answer(who);
        } else {
            waiting.add(who);
        }
    }

    template <class Archive>
    void serialize(Archive& archive) {
        archive(value, error, waiting);
    }

    std::optional<kept> value{};
    std::optional<error_report> error{};
    ticket_queue<T> waiting{};

private:
    static void require_first(bool is_first) {
        if (!is_first) {
            throw std::logic_error("quern: localities::promise: it has been set before");
        }
    }
    void answer(const ticket<T>& who) const {
        if constexpr (std::is_void_v<T>) {
            who.answer();
        } else {
            who.answer_with([&] { who.answer(T(*value)); });
        }
    }
};

}  // namespace detail

/// A value that will be there, for all localities: any may set it once, and all may wait for it. A
/// promise is a global object, and this class a reference to it, which travels: so a call can be
/// given a promise that it fulfils, or hands on to another locality that does.
///
///     const quern::localities::promise<int> result(quern::localities::here());
///     quern::localities::post_to(
///         0, [](quern::localities::promise<int> to) { to.set_value(42); }, result);
///     int value = result.get_future().get();  // 42
///
/// Errors: std::logic_error without a session or an object. If no reference is left before it has
/// been set, those that wait get a remote_error. Thread safety: as a shared_ptr. Cost: a call of a
/// global object each; no task waits. T is copyable.
template <class T>
class promise : public detail::control_object<detail::promise_state<T>> {
    using base = detail::control_object<detail::promise_state<T>>;
    using base::m_state;

public:
    using base::base;
    using typename base::state;
    /// Refers to none.
    promise() = default;
    /// A new one at that locality. Waits until it is made. Errors as make_at().
    explicit promise(int where) : base(localities::make_at<state>(where)) {}

    /// If it has been set before it is, where the promise is, a std::logic_error of object::post().
    template <class... Value>
    void set_value(Value&&... value) const {
        m_state.post(&state::set, kept(std::forward<Value>(value)...));
    }
    /// The same; the future says whether it had not been set before.
    template <class... Value>
    future<bool> try_set_value(Value&&... value) const {
        return m_state.call(&state::try_set, kept(std::forward<Value>(value)...));
    }
    /// As set_value(): those that wait get a remote_error of this exception.
    void set_exception(const std::exception_ptr& error) const {
        try {
            std::rethrow_exception(error);
        } catch (...) {
            m_state.post(&state::set_error,
                         detail::report_of_current_exception(localities::here()));
        }
    }
    /// May be called often, anywhere: each future gets a copy of the value.
    future<T> get_future() const { return detail::call_with_ticket<T>(m_state, &state::get); }

private:
    /// A T, or nothing if T is void.
    template <class... Value>
    static typename state::kept kept(Value&&... value) {
        static_assert(sizeof...(Value) == (std::is_void_v<T> ? 0 : 1),
                      "quern: localities: promise<T>::set_value takes a T, and nothing if T is "
                      "void");
        return typename state::kept(std::forward<Value>(value)...);
    }
};

}  // namespace quern::localities
