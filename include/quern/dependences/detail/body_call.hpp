// SPDX-License-Identifier: BSL-1.0
// How the function of a dependent task is called: with views, which are made of its accesses and
// their regions, or with nothing.
#pragma once

#include <quern/dependences/detail/access_records.hpp>
#include <quern/dependences/detail/region.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace quern::detail {

template <class A>
using view_tuple = decltype(A::view(std::declval<typename A::kept&>(), region()));
template <class... Accesses>
using views_t = decltype(std::tuple_cat(std::declval<view_tuple<Accesses>>()...));

/// How a function is called: with the views, or with nothing.
template <class F, class Views>
struct body_call;
template <class F, class... Views>
struct body_call<F, std::tuple<Views...>> {
    static constexpr bool k_takes_views = std::is_invocable_v<F, Views...>;
    static constexpr bool k_is_valid = k_takes_views || std::is_invocable_v<F>;
};

template <class... Accesses, class F, class Regions, class Kept>
decltype(auto) call_body(F&& function, const Regions& where, Kept& kept) {
    if constexpr (body_call<F, views_t<Accesses...>>::k_takes_views) {
        return [&]<std::size_t... I>(std::index_sequence<I...>)->decltype(auto) {
            return std::apply(std::forward<F>(function),
                              std::tuple_cat(Accesses::view(std::get<I>(kept), where[I])...));
        }
        (std::index_sequence_for<Accesses...>());
    } else {
        return std::forward<F>(function)();
    }
}

template <class F, class... Accesses>
using body_result = decltype(detail::call_body<Accesses...>(
    std::declval<F>(), std::declval<const regions_at&>(),
    std::declval<std::tuple<typename Accesses::kept...>&>()));

}  // namespace quern::detail
