// SPDX-License-Identifier: BSL-1.0
// A reference to a callable, for functions that call what they are given before they return and
// should be compiled once (std::function_ref comes with C++26).
#pragma once

#include <quern/base/detail/config.hpp>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace quern::detail {

template <class Signature>
class function_ref;

/// Two pointers, passed by value. The callable must outlive the reference. Cost of a call: an
/// indirect one.
template <class R, class... Args>
class function_ref<R(Args...)> {
public:
    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, function_ref> &&
                 std::is_invocable_r_v<R, F&, Args...>)
    function_ref(F&& f)
    noexcept
        : m_callable(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
          m_call([](void* callable, Args... args) -> R {
              return std::invoke(*static_cast<std::remove_reference_t<F>*>(callable),
                                 std::forward<Args>(args)...);
          }) {}

    R operator()(Args... args) const { return m_call(m_callable, std::forward<Args>(args)...); }

private:
    void* m_callable;
    R (*m_call)(void* callable, Args... args);
};

}  // namespace quern::detail
