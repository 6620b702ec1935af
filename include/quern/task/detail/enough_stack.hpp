// SPDX-License-Identifier: BSL-1.0
// on_enough_stack: the only way in which the runtime calls user code on its caller's stack: bodies
// of scopes and loops, children, tasks run by a waiter, functions of call_once, and destructors of
// what states and coroutines hold. Recursion through any of them is limited only by memory. New
// constructs must call through it too.
// Design: docs/design/0012-deep-recursion.md.
#pragma once

#include <quern/scheduler/detail/fresh_stack.hpp>
#include <quern/task/detail/outcome.hpp>

#include <type_traits>

namespace quern::detail {

template <class F>
QUERN_COLD auto on_fresh_stack(F& f) -> std::invoke_result_t<F&> {
    using R = std::invoke_result_t<F&>;
    struct nested_call {
        F& f;
        late_outcome<R> outcome;
    } call{f, {}};
    detail::call_on_fresh_stack(
        [](void* p) {
            auto& c = *static_cast<nested_call*>(p);
            c.outcome.set_from(c.f);
        },
        &call);
    return detail::take_as<R>(call.outcome);
}

/// Whether a result can be moved to another stack.
template <class R>
inline constexpr bool k_can_be_carried =
    std::is_void_v<R> || std::is_reference_v<R> || std::is_move_constructible_v<R>;

/// Calls f(), on a fresh stack if this one is nearly used up. Returns its result or throws its
/// exception. Any thread. Cost: a comparison; 100-200 ns and a move of the result when a fresh
/// stack is needed.
template <class F>
QUERN_ALWAYS_INLINE auto on_enough_stack(F&& f) -> std::invoke_result_t<F&> {
    if constexpr (k_can_be_carried<std::invoke_result_t<F&>>) {
        if (stack_runs_low()) [[unlikely]] {
            return detail::on_fresh_stack(f);
        }
    }
    return f();
}

}  // namespace quern::detail
