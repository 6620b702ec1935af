// SPDX-License-Identifier: BSL-1.0
// hpx::async, post and sync of actions: calls of functions at other localities, and of components.
#pragma once

#include <quern/compat/hpx/async.hpp>
#include <quern/compat/hpx/localities/actions.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace hpx {

namespace detail {

/// The number of the locality. Throws hpx::exception(bad_parameter) if there is none of that
/// number, or for nothing.
int require_locality(const id_type& to);
/// Throws hpx::exception: bad_component_type for a locality, bad_parameter for nothing.
void require_component(const id_type& to, const std::type_info& wanted);

/// Calls of one action, with its arguments as its function takes them.
template <class Action, class Parameters = typename Action::arguments_type>
struct calls_of;
template <class Action, class... Ps>
struct calls_of<Action, std::tuple<Ps...>> {
    using result = typename Action::result_type;
    using parameters = std::tuple<Ps...>;

    template <class... Ts>
    static quern::future<result> start(const id_type& to, Ts&&... ts) {
        if constexpr (!Action::is_plain) {
            detail::require_component(to, typeid(typename Action::component_type));
            return to.component().call(component_call<Action, parameters>(),
                                       static_cast<Ps>(std::forward<Ts>(ts))...);
        } else if (to.component()) {
            return to.component().call(colocated_call<Action, parameters>(),
                                       static_cast<Ps>(std::forward<Ts>(ts))...);
        } else {
            return quern::localities::run_at(detail::require_locality(to),
                                             plain_call<Action, parameters>(),
                                             static_cast<Ps>(std::forward<Ts>(ts))...);
        }
    }

    template <class... Ts>
    static void post(const id_type& to, Ts&&... ts) {
        if constexpr (!Action::is_plain) {
            detail::require_component(to, typeid(typename Action::component_type));
            to.component().post(component_call<Action, parameters>(),
                                static_cast<Ps>(std::forward<Ts>(ts))...);
        } else if (to.component()) {
            to.component().post(colocated_call<Action, parameters>(),
                                static_cast<Ps>(std::forward<Ts>(ts))...);
        } else {
            quern::localities::post_to(detail::require_locality(to),
                                       plain_call<Action, parameters>(),
                                       static_cast<Ps>(std::forward<Ts>(ts))...);
        }
    }

    /// In this task.
    template <class... Ts>
    static result run_here(Ts&&... ts) {
        return plain_call<Action, parameters>()(static_cast<Ps>(std::forward<Ts>(ts))...);
    }
};

template <class Action, class... Ts>
constexpr void require_arguments() {
    static_assert(sizeof...(Ts) == std::tuple_size_v<typename Action::arguments_type>,
                  "quern: hpx: an action is called with a target and as many arguments as its "
                  "function takes");
}

/// Errors of the call itself are in the future too.
template <class A, class... Ts>
future<result_of_action<A>> async_action(const id_type& to, Ts&&... ts) {
    using own = typename std::remove_cvref_t<A>::hpx_action;
    detail::require_arguments<own, Ts...>();
    try {
        return detail::arrived(calls_of<own>::start(to, std::forward<Ts>(ts)...));
    } catch (...) {
        return hpx::make_exceptional_future<result_of_action<A>>(std::current_exception());
    }
}
template <class A, class... Ts>
future<result_of_action<A>> async_action(const launch& how, const id_type& to, Ts&&... ts) {
    const quern::launch way = how.attributes().how;
    if (way == quern::launch::deferred) {
        return hpx::async(
            how, [to, kept = std::tuple<std::decay_t<Ts>...>(std::forward<Ts>(ts)...)]() mutable {
                return std::apply(
                    [&](auto&... each) {
                        return detail::async_action<A>(to, std::move(each)...).get();
                    },
                    kept);
            });
    }
    auto started = detail::async_action<A>(to, std::forward<Ts>(ts)...);
    if (way == quern::launch::sync) {
        started.wait();
    }
    return started;
}

template <class A, class... Ts>
bool post_action(const id_type& to, Ts&&... ts) {
    using own = typename std::remove_cvref_t<A>::hpx_action;
    detail::require_arguments<own, Ts...>();
    calls_of<own>::post(to, std::forward<Ts>(ts)...);
    return true;
}

template <class A, class... Ts>
result_of_action<A> sync_action(const id_type& to, Ts&&... ts) {
    using own = typename std::remove_cvref_t<A>::hpx_action;
    detail::require_arguments<own, Ts...>();
    if constexpr (own::is_plain) {
        if (to.is_locality() && to.locality() == hpx::get_locality_id()) {
            return calls_of<own>::run_here(std::forward<Ts>(ts)...);
        }
    }
    return detail::async_action<A>(to, std::forward<Ts>(ts)...).get();
}

}  // namespace detail

namespace actions {

template <auto Function, class Component>
template <class... Ts>
auto action_of<Function, Component>::operator()(const id_type& to, Ts&&... ts) const {
    return hpx::detail::sync_action<action_of>(to, std::forward<Ts>(ts)...);
}
template <auto Function, class Component>
template <class... Ts>
auto action_of<Function, Component>::operator()(launch, const id_type& to, Ts&&... ts) const {
    return hpx::detail::sync_action<action_of>(to, std::forward<Ts>(ts)...);
}

}  // namespace actions

/// Calls an action at a locality, or of a component, and gives the future of its result. The
/// function's arguments and result travel as those of quern::localities::run_at do.
///
/// Errors, all from the future: what the function throws; hpx::exception(bad_parameter) for no
/// target or a locality that does not exist, (bad_component_type) for a component of another type.
/// Thread safety: any task. Cost: as run_at(), or object::call(), and an allocation.
template <detail::action A, class... Ts>
auto async(const id_type& to, Ts&&... ts) {
    return detail::async_action<A>(to, std::forward<Ts>(ts)...);
}
template <detail::action A, class... Ts>
auto async(const launch& how, const id_type& to, Ts&&... ts) {
    return detail::async_action<A>(how, to, std::forward<Ts>(ts)...);
}
template <detail::action A, detail::target Target, class... Ts>
auto async(A&&, Target&& to, Ts&&... ts) {
    return detail::async_action<A>(to, std::forward<Ts>(ts)...);
}
template <detail::start_wish Wish, detail::action A, detail::target Target, class... Ts>
auto async(Wish&& how, A&&, Target&& to, Ts&&... ts) {
    return detail::async_action<A>(how, to, std::forward<Ts>(ts)...);
}

/// The same without an answer. An exception of the function ends the program there, as one of
/// hpx::post does; errors of the call itself are thrown.
template <detail::action A, class... Ts>
bool post(const id_type& to, Ts&&... ts) {
    return detail::post_action<A>(to, std::forward<Ts>(ts)...);
}
template <detail::action A, class... Ts>
bool post(const launch&, const id_type& to, Ts&&... ts) {
    return detail::post_action<A>(to, std::forward<Ts>(ts)...);
}
template <detail::action A, detail::target Target, class... Ts>
bool post(A&&, Target&& to, Ts&&... ts) {
    return detail::post_action<A>(to, std::forward<Ts>(ts)...);
}
template <detail::start_wish Wish, detail::action A, detail::target Target, class... Ts>
bool post(Wish&&, A&&, Target&& to, Ts&&... ts) {
    return detail::post_action<A>(to, std::forward<Ts>(ts)...);
}
template <detail::action A, class... Ts>
bool apply(const id_type& to, Ts&&... ts) {
    return detail::post_action<A>(to, std::forward<Ts>(ts)...);
}
template <detail::action A, detail::target Target, class... Ts>
bool apply(A&&, Target&& to, Ts&&... ts) {
    return detail::post_action<A>(to, std::forward<Ts>(ts)...);
}

/// The same, and waits for the result. A plain action at the own locality runs in this task.
template <detail::action A, class... Ts>
auto sync(const id_type& to, Ts&&... ts) {
    return detail::sync_action<A>(to, std::forward<Ts>(ts)...);
}
template <detail::action A, class... Ts>
auto sync(const launch&, const id_type& to, Ts&&... ts) {
    return detail::sync_action<A>(to, std::forward<Ts>(ts)...);
}
template <detail::action A, detail::target Target, class... Ts>
auto sync(A&&, Target&& to, Ts&&... ts) {
    return detail::sync_action<A>(to, std::forward<Ts>(ts)...);
}
template <detail::start_wish Wish, detail::action A, detail::target Target, class... Ts>
auto sync(Wish&&, A&&, Target&& to, Ts&&... ts) {
    return detail::sync_action<A>(to, std::forward<Ts>(ts)...);
}

}  // namespace hpx
