// SPDX-License-Identifier: BSL-1.0
// hpx::async, post, sync and dataflow, each with an optional policy or executor before the
// function.
#pragma once

#include <quern/compat/hpx/future.hpp>
#include <quern/task/async.hpp>
#include <quern/task/dataflow.hpp>

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace hpx {

namespace detail {

template <class F, class... Ts>
auto start_async(const quern::task_attributes& wanted, F&& f, Ts&&... ts) {
    return future(quern::detail::start_async(wanted, std::forward<F>(f), std::forward<Ts>(ts)...));
}

/// Whether a task without another waiter is called at once.
inline bool runs_here(const quern::task_attributes& wanted) noexcept {
    return wanted.how == quern::launch::sync || wanted.how == quern::launch::deferred;
}

template <class F, class... Ts>
void start_posted(const quern::task_attributes& wanted, F&& f, Ts&&... ts) {
    if (runs_here(wanted)) {
        std::invoke(std::forward<F>(f), std::forward<Ts>(ts)...);
    } else {
        quern::detail::start_posted(wanted, std::forward<F>(f), std::forward<Ts>(ts)...);
    }
}

template <class F, class... Ts>
auto start_dataflow(const quern::task_attributes& how, F&& f, Ts&&... ts) {
    auto call = [f = std::decay_t<F>(std::forward<F>(f))](auto&& ready) mutable -> decltype(auto) {
        using R = decltype(std::apply(f, std::forward<decltype(ready)>(ready)));
        if constexpr (traits::is_future_v<R>) {
            return to_quern(std::apply(f, std::forward<decltype(ready)>(ready)));
        } else {
            return static_cast<R>(std::apply(f, std::forward<decltype(ready)>(ready)));
        }
    };
    const quern::detail::creation_timing making;
    return finish(quern::detail::join_futures<decltype(call)>(
        how, std::tuple<std::decay_t<Ts>...>(std::forward<Ts>(ts)...), std::move(call)));
}

/// The future that a program's executor returns, or a future of its result.
template <class Executor, class F, class... Ts>
decltype(auto) async_by(Executor&& e, F&& f, Ts&&... ts) {
    using tag = parallel::execution::async_execute_t;
    if constexpr (own_executor<Executor>) {
        return start_async(e.attributes(), std::forward<F>(f), std::forward<Ts>(ts)...);
    } else if constexpr (requires {
                             tag_invoke(tag(), e, std::forward<F>(f), std::forward<Ts>(ts)...);
                         }) {
        return tag_invoke(tag(), e, std::forward<F>(f), std::forward<Ts>(ts)...);
    } else if constexpr (requires {
                             e.async_execute(std::forward<F>(f), std::forward<Ts>(ts)...);
                         }) {
        return e.async_execute(std::forward<F>(f), std::forward<Ts>(ts)...);
    } else {
        return start_async(launch(launch::sync).attributes(), [&] {
            return parallel::execution::sync_execute(e, std::forward<F>(f),
                                                     std::forward<Ts>(ts)...);
        });
    }
}

template <class Executor, class F, class... Ts>
decltype(auto) sync_by(Executor&& e, F&& f, Ts&&... ts) {
    using tag = parallel::execution::sync_execute_t;
    if constexpr (requires { tag_invoke(tag(), e, std::forward<F>(f), std::forward<Ts>(ts)...); }) {
        return tag_invoke(tag(), e, std::forward<F>(f), std::forward<Ts>(ts)...);
    } else if constexpr (requires {
                             e.sync_execute(std::forward<F>(f), std::forward<Ts>(ts)...);
                         }) {
        return e.sync_execute(std::forward<F>(f), std::forward<Ts>(ts)...);
    } else {
        return async_by(e, std::forward<F>(f), std::forward<Ts>(ts)...).get();
    }
}

template <class Executor, class F, class... Ts>
void post_by(Executor&& e, F&& f, Ts&&... ts) {
    using tag = parallel::execution::post_t;
    if constexpr (own_executor<Executor>) {
        start_posted(e.attributes(), std::forward<F>(f), std::forward<Ts>(ts)...);
    } else if constexpr (requires {
                             tag_invoke(tag(), e, std::forward<F>(f), std::forward<Ts>(ts)...);
                         }) {
        tag_invoke(tag(), e, std::forward<F>(f), std::forward<Ts>(ts)...);
    } else if constexpr (requires { e.post(std::forward<F>(f), std::forward<Ts>(ts)...); }) {
        e.post(std::forward<F>(f), std::forward<Ts>(ts)...);
    } else {
        (void)sync_by(e, std::forward<F>(f), std::forward<Ts>(ts)...);
    }
}

}  // namespace detail

namespace parallel::execution {

template <class Executor, class F, class... Ts>
decltype(auto) async_execute_t::operator()(Executor&& e, F&& f, Ts&&... ts) const {
    return hpx::detail::async_by(e, std::forward<F>(f), std::forward<Ts>(ts)...);
}
template <class Executor, class F, class... Ts>
decltype(auto) sync_execute_t::operator()(Executor&& e, F&& f, Ts&&... ts) const {
    return hpx::detail::sync_by(e, std::forward<F>(f), std::forward<Ts>(ts)...);
}
template <class Executor, class F, class... Ts>
decltype(auto) post_t::operator()(Executor&& e, F&& f, Ts&&... ts) const {
    return hpx::detail::post_by(e, std::forward<F>(f), std::forward<Ts>(ts)...);
}

}  // namespace parallel::execution

/// Starts f(ts...) and returns the future of its result. Function and arguments are copied or moved
/// into the task.
template <class F, class... Ts>
    requires(!detail::start_wish<F>)
QUERN_ALWAYS_INLINE auto async(F&& f, Ts&&... ts) {
    return detail::start_async({.site = quern::detail::code_address()}, std::forward<F>(f),
                               std::forward<Ts>(ts)...);
}
template <detail::start_wish Wish, class F, class... Ts>
QUERN_ALWAYS_INLINE auto async(Wish&& wish, F&& f, Ts&&... ts) {
    if constexpr (detail::foreign_executor<Wish> && !detail::own_executor<Wish>) {
        return detail::async_by(wish, std::forward<F>(f), std::forward<Ts>(ts)...);
    } else {
        return detail::start_async(
            quern::detail::made_at(quern::detail::code_address(), detail::attributes_of(wish)),
            std::forward<F>(f), std::forward<Ts>(ts)...);
    }
}

/// Starts f(ts...) without a future. An exception that leaves it ends the program.
template <class F, class... Ts>
    requires(!detail::start_wish<F>)
QUERN_ALWAYS_INLINE bool post(F&& f, Ts&&... ts) {
    detail::start_posted({.site = quern::detail::code_address()}, std::forward<F>(f),
                         std::forward<Ts>(ts)...);
    return true;
}
template <detail::start_wish Wish, class F, class... Ts>
QUERN_ALWAYS_INLINE bool post(Wish&& wish, F&& f, Ts&&... ts) {
    if constexpr (detail::foreign_executor<Wish> && !detail::own_executor<Wish>) {
        detail::post_by(wish, std::forward<F>(f), std::forward<Ts>(ts)...);
    } else {
        detail::start_posted(
            quern::detail::made_at(quern::detail::code_address(), detail::attributes_of(wish)),
            std::forward<F>(f), std::forward<Ts>(ts)...);
    }
    return true;
}

/// The name of post() in older programs.
template <class F, class... Ts>
QUERN_ALWAYS_INLINE bool apply(F&& f, Ts&&... ts) {
    return hpx::post(std::forward<F>(f), std::forward<Ts>(ts)...);
}

/// Calls f(ts...) and returns its result: here, or as the policy or executor says.
template <class F, class... Ts>
    requires(!detail::start_wish<F>)
decltype(auto) sync(F&& f, Ts&&... ts) {
    return std::invoke(std::forward<F>(f), std::forward<Ts>(ts)...);
}
template <detail::start_wish Wish, class F, class... Ts>
auto sync(Wish&& wish, F&& f, Ts&&... ts)
    -> std::invoke_result_t<std::decay_t<F>, std::decay_t<Ts>...> {
    if constexpr (detail::launch_policy<Wish> || detail::own_executor<Wish>) {
        if (detail::runs_here(detail::attributes_of(wish))) {
            return std::invoke(std::forward<F>(f), std::forward<Ts>(ts)...);
        }
    }
    return hpx::async(wish, std::forward<F>(f), std::forward<Ts>(ts)...).get();
}

/// Starts f(ts...) when the futures among the arguments are ready, also those in sequences and
/// tuples. f gets the futures, with unwrapping(f) their values. If f returns a future, the result
/// is that of its result.
template <class F, class... Ts>
    requires(!detail::start_wish<F>)
QUERN_ALWAYS_INLINE auto dataflow(F&& f, Ts&&... ts) {
    return detail::start_dataflow({.site = quern::detail::code_address()}, std::forward<F>(f),
                                  std::forward<Ts>(ts)...);
}
template <detail::start_wish Wish, class F, class... Ts>
QUERN_ALWAYS_INLINE auto dataflow(const Wish& wish, F&& f, Ts&&... ts) {
    if constexpr (detail::foreign_executor<Wish> && !detail::own_executor<Wish>) {
        return detail::start_dataflow(
            detail::in_place(),
            [wish, f = std::decay_t<F>(std::forward<F>(f))](auto&&... ready) mutable {
                return detail::async_by(wish, std::move(f),
                                        std::forward<decltype(ready)>(ready)...);
            },
            std::forward<Ts>(ts)...);
    } else {
        return detail::start_dataflow(
            quern::detail::made_at(quern::detail::code_address(), detail::attributes_of(wish)),
            std::forward<F>(f), std::forward<Ts>(ts)...);
    }
}

}  // namespace hpx
