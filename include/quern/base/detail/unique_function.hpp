// SPDX-License-Identifier: BSL-1.0
// A move-only callable, for pollers, continuations and handlers (std::move_only_function comes with
// C++23). Not used on spawn paths, which store the closure itself.
#pragma once

#include <quern/base/detail/config.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace quern::detail {

template <class Signature>
class unique_function;

template <class R, class... Args>
class unique_function<R(Args...)> {
public:
    unique_function() noexcept = default;

    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, unique_function> &&
                 std::is_invocable_r_v<R, F&, Args...>)
    unique_function(F&& f)
        : m_callable(std::make_unique<callable<std::decay_t<F>>>(std::forward<F>(f))) {}

    explicit operator bool() const noexcept { return m_callable != nullptr; }

    /// Requires: not empty.
    R operator()(Args... args) { return m_callable->call(std::forward<Args>(args)...); }

private:
    struct callable_base {
        virtual ~callable_base() = default;
        virtual R call(Args... args) = 0;
    };

    template <class F>
    struct callable final : callable_base {
        explicit callable(F&& f) : function(std::move(f)) {}
        explicit callable(const F& f) : function(f) {}
        R call(Args... args) override {
            if constexpr (std::is_void_v<R>) {
                function(std::forward<Args>(args)...);
            } else {
                return function(std::forward<Args>(args)...);
            }
        }
        F function;
    };

    std::unique_ptr<callable_base> m_callable;
};

}  // namespace quern::detail
