// SPDX-License-Identifier: BSL-1.0
// Actions: types that stand for a function, or for a member function of a component, which can be
// called at other localities. Nothing is registered: all localities run the same program.
#pragma once

#include <quern/compat/hpx/localities/arrival.hpp>
#include <quern/compat/hpx/localities/id.hpp>
#include <quern/localities/run_at.hpp>
#include <quern/scheduler/held_locks.hpp>

#include <cassert>
#include <concepts>
#include <functional>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <utility>

namespace hpx {

namespace detail {

/// What an action's function takes and gives, as values.
template <class F>
struct signature;
template <class R, class... Ps>
struct signature<R(Ps...)> {
    using result = std::remove_cvref_t<R>;
    using parameters = std::tuple<std::decay_t<Ps>...>;
    using component = void;
};
template <class R, class... Ps>
struct signature<R(Ps...) noexcept> : signature<R(Ps...)> {};
template <class R, class... Ps>
struct signature<R(Ps...) const> : signature<R(Ps...)> {};
template <class R, class... Ps>
struct signature<R(Ps...) const noexcept> : signature<R(Ps...)> {};
template <class F>
struct signature<F*> : signature<F> {};
template <class F, class C>
struct signature<F C::*> : signature<F> {
    using component = C;
};

/// The value of a future that a function has returned.
template <class R>
struct value_of_result {
    using type = R;
};
template <class R>
    requires traits::is_future_v<R>
struct value_of_result<R> {
    using type = value_of<R>;
};

/// A component that is locked during its actions: locking_hook.
template <class C>
concept has_lock_of_actions = requires(C& one) {
    one.lock_of_actions().lock();
};

}  // namespace detail

namespace actions {

/// A function as an action. `Component`: the class whose components it is called on; void: none.
template <auto Function,
          class Component = typename hpx::detail::signature<decltype(Function)>::component>
struct action_of {
    using signature = hpx::detail::signature<decltype(Function)>;
    using component_type = Component;
    /// Of the function; a future is waited for there.
    using local_result_type = typename signature::result;
    using result_type = typename hpx::detail::value_of_result<local_result_type>::type;
    using remote_result_type = result_type;
    using arguments_type = typename signature::parameters;
    static constexpr auto function = Function;
    static constexpr bool is_plain = std::is_void_v<component_type>;
    using hpx_action = action_of;

    template <class... Ts>
    auto operator()(const id_type& to, Ts&&... ts) const;
    template <class... Ts>
    auto operator()(launch, const id_type& to, Ts&&... ts) const;
};

template <auto Function>
using plain_action = action_of<Function>;

template <class F, F Function>
struct make_action {
    using type = action_of<Function>;
};
template <class F, F Function>
using make_action_t = action_of<Function>;
template <class F, F Function>
using make_direct_action_t = action_of<Function>;

}  // namespace actions

namespace detail {
template <class A>
concept says_it_is_action = requires {
    typename A::hpx_action;
};
}  // namespace detail
namespace traits {
template <class A>
struct is_action : std::bool_constant<hpx::detail::says_it_is_action<std::remove_cvref_t<A>>> {};
template <class A>
inline constexpr bool is_action_v = is_action<A>::value;
}  // namespace traits

namespace detail {

template <class A>
concept action = traits::is_action_v<A>;
template <class T>
concept target = std::convertible_to<T, const id_type&>;

template <class Action>
using result_of_action = typename std::remove_cvref_t<Action>::result_type;

/// Calls f, and waits if it returns a future.
template <class R, class F>
R value_from(F&& f) {
    if constexpr (traits::is_future_v<decltype(f())>) {
        return R(f().get());
    } else {
        return R(f());
    }
}
template <class F>
void wait_for_end(F&& f) {
    if constexpr (traits::is_future_v<decltype(f())>) {
        f().get();
    } else {
        static_cast<void>(f());
    }
}
template <class R, class F>
R outcome(F&& f) {
    if constexpr (std::is_void_v<R>) {
        detail::wait_for_end(f);
    } else {
        return detail::value_from<R>(f);
    }
}

/// A call of a plain action where it runs. `Ps`: arguments_type.
template <class Action, class Parameters>
struct plain_call;
template <class Action, class... Ps>
struct plain_call<Action, std::tuple<Ps...>> {
    typename Action::result_type operator()(Ps&&... ps) const {
        return outcome<typename Action::result_type>(
            [&]() -> decltype(auto) { return std::invoke(Action::function, std::move(ps)...); });
    }
};
/// The same where a component is.
template <class Action, class Parameters>
struct colocated_call;
template <class Action, class... Ps>
struct colocated_call<Action, std::tuple<Ps...>> {
    typename Action::result_type operator()(const component_holder&, Ps&&... ps) const {
        return plain_call<Action, std::tuple<Ps...>>()(std::move(ps)...);
    }
};

/// A call of a component's action where the component is.
template <class Action, class Parameters>
struct component_call;
template <class Action, class... Ps>
struct component_call<Action, std::tuple<Ps...>> {
    typename Action::result_type operator()(const component_holder& of, Ps&&... ps) const {
        using component = typename Action::component_type;
        component& one = of.as<component>();
        const auto call = [&]() -> decltype(auto) {
            if constexpr (std::is_member_function_pointer_v<decltype(Action::function)>) {
                return std::invoke(Action::function, one, std::move(ps)...);
            } else {
                return std::invoke(Action::function, std::move(ps)...);
            }
        };
        if constexpr (has_lock_of_actions<component>) {
            const std::scoped_lock lock(one.lock_of_actions());
            const quern::ignore_held_locks on_purpose;
            return outcome<typename Action::result_type>(call);
        } else {
            return outcome<typename Action::result_type>(call);
        }
    }
};

}  // namespace detail

}  // namespace hpx

#define QUERN_HPX_CHOOSE_3(first, second, third, chosen, ...) chosen

#define QUERN_HPX_PLAIN_2(function, name) \
    struct name : ::hpx::actions::action_of<&function> {};
#define QUERN_HPX_PLAIN_1(function) QUERN_HPX_PLAIN_2(function, function##_action)
#define HPX_DEFINE_PLAIN_ACTION(...)                                                           \
    QUERN_HPX_CHOOSE_3(__VA_ARGS__, QUERN_HPX_PLAIN_3, QUERN_HPX_PLAIN_2, QUERN_HPX_PLAIN_1, ) \
    (__VA_ARGS__)
#define QUERN_HPX_PLAIN_3(function, name, id) QUERN_HPX_PLAIN_2(function, name)
#define HPX_PLAIN_ACTION(...) HPX_DEFINE_PLAIN_ACTION(__VA_ARGS__)
#define HPX_PLAIN_ACTION_ID(...) HPX_DEFINE_PLAIN_ACTION(__VA_ARGS__)
#define HPX_PLAIN_DIRECT_ACTION(...) HPX_DEFINE_PLAIN_ACTION(__VA_ARGS__)
#define HPX_PLAIN_DIRECT_ACTION_ID(...) HPX_DEFINE_PLAIN_ACTION(__VA_ARGS__)
#define HPX_DEFINE_PLAIN_DIRECT_ACTION(...) HPX_DEFINE_PLAIN_ACTION(__VA_ARGS__)

#define QUERN_HPX_DECLARE_2(function, name) struct name;
#define QUERN_HPX_DECLARE_1(function) QUERN_HPX_DECLARE_2(function, function##_action)
#define HPX_DECLARE_ACTION(...) \
    QUERN_HPX_CHOOSE_3(__VA_ARGS__, , QUERN_HPX_DECLARE_2, QUERN_HPX_DECLARE_1, )(__VA_ARGS__)
#define HPX_DECLARE_PLAIN_ACTION(...) HPX_DECLARE_ACTION(__VA_ARGS__)
#define HPX_DECLARE_PLAIN_DIRECT_ACTION(...) HPX_DECLARE_ACTION(__VA_ARGS__)

// Ends with a function, behind which a class may have a semicolon or none.
#define QUERN_HPX_MEMBER_3(component, function, name)                            \
    struct name : ::hpx::actions::action_of<&component::function, component> {}; \
    static constexpr void name##_is_defined() noexcept {}
#define QUERN_HPX_MEMBER_2(component, function) \
    QUERN_HPX_MEMBER_3(component, function, function##_action)
#define HPX_DEFINE_COMPONENT_ACTION(...) \
    QUERN_HPX_CHOOSE_3(__VA_ARGS__, QUERN_HPX_MEMBER_3, QUERN_HPX_MEMBER_2, )(__VA_ARGS__)
#define HPX_DEFINE_COMPONENT_DIRECT_ACTION(...) HPX_DEFINE_COMPONENT_ACTION(__VA_ARGS__)

// What HPX must be told, and Quern need not.
#define HPX_REGISTER_ACTION(...)
#define HPX_REGISTER_ACTION_ID(...)
#define HPX_REGISTER_ACTION_DECLARATION(...)
#define HPX_REGISTER_PLAIN_ACTION(...)
#define HPX_REGISTER_PLAIN_ACTION_DECLARATION(...)
#define HPX_REGISTER_BROADCAST_ACTION(...)
#define HPX_REGISTER_BROADCAST_ACTION_DECLARATION(...)
#define HPX_ACTION_USES_STACK(...)
#define HPX_ACTION_USES_SMALL_STACK(...)
#define HPX_ACTION_USES_MEDIUM_STACK(...)
#define HPX_ACTION_USES_LARGE_STACK(...)
#define HPX_ACTION_USES_HUGE_STACK(...)
#define HPX_ACTION_HAS_PRIORITY(...)
#define HPX_ACTION_HAS_LOW_PRIORITY(...)
#define HPX_ACTION_HAS_NORMAL_PRIORITY(...)
#define HPX_ACTION_HAS_HIGH_PRIORITY(...)
#define HPX_ACTION_HAS_CRITICAL_PRIORITY(...)
#define HPX_ACTION_USES_MESSAGE_COALESCING(...)
#define HPX_ACTION_USES_MESSAGE_COALESCING_NOTHROW(...)

#define HPX_ASSERT(condition) assert(condition)
#define HPX_ASSERT_MSG(condition, message) assert((condition) && (message))
#define HPX_FORWARD(T, value) std::forward<T>(value)
#define HPX_MOVE(value) std::move(value)
