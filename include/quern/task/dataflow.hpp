// SPDX-License-Identifier: BSL-1.0
// dataflow: a task that starts when the futures among its arguments are ready; and unwrapping,
// which lets it take their values. As in HPX (Grubel 2016, section 2.3.3).
#pragma once

#include <quern/task/join_frame.hpp>

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern {

namespace detail {

template <class T>
struct future_value;
template <class T>
struct future_value<future<T>> {
    using type = T;
};
template <class T>
struct future_value<shared_future<T>> {
    using type = T;
};

/// What stands for an argument after unwrapping, in a tuple of no or one element.
template <class Argument>
auto unwrap(Argument&& argument) {
    using A = std::remove_cvref_t<Argument>;
    if constexpr (is_future_v<A>) {
        if constexpr (std::is_void_v<typename future_value<A>::type>) {
            argument.get();  // throws if the task has
            return std::tuple<>();
        } else {
            return std::tuple<decltype(argument.get())>(argument.get());
        }
    } else if constexpr (requires { typename A::value_type; }) {
        if constexpr (is_future_v<typename A::value_type>) {
            using V = typename future_value<typename A::value_type>::type;
            if constexpr (std::is_void_v<V>) {
                for (auto& f : argument) {
                    f.get();
                }
                return std::tuple<>();
            } else {
                std::vector<std::decay_t<V>> values;
                values.reserve(argument.size());
                for (auto& f : argument) {
                    values.push_back(f.get());
                }
                return std::tuple<std::vector<std::decay_t<V>>>(std::move(values));
            }
        } else {
            return std::tuple<A>(std::forward<Argument>(argument));
        }
    } else {
        return std::tuple<A>(std::forward<Argument>(argument));
    }
}

template <class F>
struct unwrapping_function {
    F function;

    template <class... Arguments>
    decltype(auto) operator()(Arguments&&... arguments) {
        return std::apply(function, std::tuple_cat(unwrap(std::forward<Arguments>(arguments))...));
    }
};

}  // namespace detail

/// Makes a function of values into one of futures: each future is replaced by its value (a future
/// of void by nothing, a vector of futures by a vector of values), other arguments are passed on.
/// A shared_future's value comes by reference to const. What a future holds as an exception is
/// thrown before the function is called.
template <class F>
auto unwrapping(F&& f) {
    return detail::unwrapping_function<std::decay_t<F>>{std::forward<F>(f)};
}

/// Starts f(arguments...) as a task as soon as every future among the arguments (and in vectors
/// and tuples among them) is ready, and returns the future of its result. f gets the futures
/// themselves, each ready; with unwrapping(f) their values. Nothing waits meanwhile.
///
/// Errors: what f throws comes out of the future; without unwrapping, exceptions of the arguments
/// are f's to see.
/// Thread safety: any thread. The task goes to the calling worker's pool.
/// Cost: one allocation for the frame and one for its waiters.
///
///     auto sum = quern::dataflow(quern::unwrapping([](int a, int b) { return a + b; }),
///                                quern::async(f), quern::async(g));
template <class F, class... Arguments>
    requires(!std::is_same_v<std::remove_cvref_t<F>, launch> &&
             !std::is_same_v<std::remove_cvref_t<F>, task_attributes>)
auto dataflow(F&& f, Arguments&&... arguments) {
    return dataflow(task_attributes{}, std::forward<F>(f), std::forward<Arguments>(arguments)...);
}

template <class F, class... Arguments>
auto dataflow(launch how, F&& f, Arguments&&... arguments) {
    return dataflow(task_attributes{.how = how}, std::forward<F>(f),
                    std::forward<Arguments>(arguments)...);
}

template <class F, class... Arguments>
auto dataflow(const task_attributes& how, F&& f, Arguments&&... arguments) {
    return detail::join_futures(
        how, std::tuple<std::decay_t<Arguments>...>(std::forward<Arguments>(arguments)...),
        [f = std::decay_t<F>(std::forward<F>(f))](auto&& ready) mutable {
            return std::apply(f, std::forward<decltype(ready)>(ready));
        });
}

}  // namespace quern
