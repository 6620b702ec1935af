// SPDX-License-Identifier: BSL-1.0
// Plain actions on the only locality: functions that are started with a locality as first argument,
// as in HPX's documentation. Nothing is sent to another process.
#pragma once

#include <quern/compat/hpx/async.hpp>

#include <cassert>
#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace hpx {

/// A locality: this one.
struct id_type {
    explicit operator bool() const noexcept { return true; }
    friend bool operator==(const id_type&, const id_type&) = default;
};
namespace naming {
using hpx::id_type;
}

inline id_type find_here() noexcept { return {}; }
inline id_type find_root_locality() noexcept { return {}; }
inline std::vector<id_type> find_all_localities() { return {id_type()}; }
inline std::vector<id_type> find_remote_localities() { return {}; }

namespace actions {

/// The type that HPX_PLAIN_ACTION makes of a function.
template <auto Function>
struct plain_action {
    template <class... Ts>
    decltype(auto) operator()(const id_type&, Ts&&... ts) const {
        return std::invoke(Function, std::forward<Ts>(ts)...);
    }
    static constexpr auto function = Function;
};

}  // namespace actions

template <class Action, class... Ts>
    requires requires { Action::function; }
auto async(const id_type&, Ts&&... ts) {
    return hpx::async(Action::function, std::forward<Ts>(ts)...);
}
template <class Action, class... Ts>
    requires requires { Action::function; }
auto async(const launch& how, const id_type&, Ts&&... ts) {
    return hpx::async(how, Action::function, std::forward<Ts>(ts)...);
}
template <class Action, class... Ts>
    requires requires { Action::function; }
bool post(const id_type&, Ts&&... ts) {
    return hpx::post(Action::function, std::forward<Ts>(ts)...);
}
template <class Action, class... Ts>
    requires requires { Action::function; }
decltype(auto) sync(const id_type&, Ts&&... ts) {
    return std::invoke(Action::function, std::forward<Ts>(ts)...);
}

}  // namespace hpx

#define HPX_PLAIN_ACTION_2(function, name) \
    struct name : ::hpx::actions::plain_action<&function> {};
#define HPX_PLAIN_ACTION_1(function) HPX_PLAIN_ACTION_2(function, function##_action)
#define HPX_PLAIN_ACTION_CHOOSE(first, second, chosen, ...) chosen
#define HPX_PLAIN_ACTION(...) \
    HPX_PLAIN_ACTION_CHOOSE(__VA_ARGS__, HPX_PLAIN_ACTION_2, HPX_PLAIN_ACTION_1, )(__VA_ARGS__)
#define HPX_ASSERT(condition) assert(condition)
#define HPX_ASSERT_MSG(condition, message) assert((condition) && (message))
#define HPX_FORWARD(T, value) std::forward<T>(value)
#define HPX_MOVE(value) std::move(value)
