// SPDX-License-Identifier: BSL-1.0
// HPX's names for parts of the standard: tuples, functions, binding, optional, any.
#pragma once

#include <quern/base/detail/unique_function.hpp>

#include <any>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace hpx {

using std::any;
using std::any_cast;
using std::bad_any_cast;
using std::bad_optional_access;
using std::get;
using std::in_place;
using std::in_place_t;
using std::invoke;
using std::make_any;
using std::make_optional;
using std::make_tuple;
using std::nullopt;
using std::nullopt_t;
using std::optional;
using std::tie;
using std::tuple;
using std::tuple_cat;
using std::tuple_element;
using std::tuple_size;
inline constexpr auto& ignore = std::ignore;

template <class... Ts>
constexpr std::tuple<Ts&&...> forward_as_tuple(Ts&&... ts) noexcept {
    return std::tuple<Ts&&...>(std::forward<Ts>(ts)...);
}

using std::bind;
using std::bind_front;
namespace placeholders = std::placeholders;

/// f(args..., ts...).
template <class F, class... Ts>
constexpr auto bind_back(F&& f, Ts&&... ts) {
    return [f = std::decay_t<F>(std::forward<F>(f)),
            last = std::tuple<std::decay_t<Ts>...>(std::forward<Ts>(ts)...)](auto&&... args) {
        return std::apply(
            [&](const auto&... each) {
                return std::invoke(f, std::forward<decltype(args)>(args)..., each...);
            },
            last);
    };
}

template <class Signature, bool = false>
using function = std::function<Signature>;
template <class Signature, bool = false>
using move_only_function = quern::detail::unique_function<Signature>;

/// f(the elements of the tuple...).
template <class F, class Tuple>
constexpr decltype(auto) invoke_fused(F&& f, Tuple&& args) {
    return std::apply(std::forward<F>(f), std::forward<Tuple>(args));
}

/// A function with a name. Reports show names of tasks, which an executor gives:
/// with_annotation(executor, name).
template <class F>
auto annotated_function(F&& f, const char* = nullptr) {
    return std::decay_t<F>(std::forward<F>(f));
}
struct scoped_annotation {
    template <class... Ts>
    explicit scoped_annotation(const Ts&...) noexcept {}
};

namespace util {
using hpx::annotated_function;
using hpx::bind;
using hpx::bind_back;
using hpx::bind_front;
using hpx::forward_as_tuple;
using hpx::get;
using hpx::invoke;
using hpx::invoke_fused;
using hpx::make_tuple;
using hpx::tie;
using hpx::tuple;
using hpx::tuple_cat;
template <class Signature>
using function = hpx::function<Signature>;
template <class Signature>
using function_nonser = hpx::function<Signature>;
template <class Signature>
using unique_function = hpx::move_only_function<Signature>;
template <class Signature>
using unique_function_nonser = hpx::move_only_function<Signature>;
template <class F, class... Ts>
using invoke_result_t = std::invoke_result_t<F, Ts...>;
namespace placeholders = std::placeholders;

/// A deferred call.
template <class F, class... Ts>
auto deferred_call(F&& f, Ts&&... ts) {
    return [f = std::decay_t<F>(std::forward<F>(f)),
            bound = std::tuple<std::decay_t<Ts>...>(std::forward<Ts>(ts)...)]() mutable
           -> decltype(auto) { return std::apply(std::move(f), std::move(bound)); };
}
}  // namespace util

}  // namespace hpx
