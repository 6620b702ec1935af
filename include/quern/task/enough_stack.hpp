// SPDX-License-Identifier: BSL-1.0
// on_enough_stack: the one way in which the runtime calls code of users on the stack of its caller:
// bodies of scopes and loops, children, tasks that a waiter runs, functions of call_once, and
// destructors of what states and coroutines hold. A recursion through any of them is as deep as
// there is memory. Whoever adds a construct calls through it too.
// Why so: docs/design/0012-deep-recursion.md.
#pragma once

#include <quern/scheduler/fresh_stack.hpp>
#include <quern/task/outcome.hpp>

#include <type_traits>

namespace quern::detail {

/// Calls f() on a fresh stack; gives what it returns or throws.
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

/// Whether what a function returns can be brought over from another stack.
template <class R>
inline constexpr bool k_can_be_carried =
    std::is_void_v<R> || std::is_reference_v<R> || std::is_move_constructible_v<R>;

/// Calls f(), on a fresh stack where this one is nearly used up; gives what it returns or throws.
/// Any thread. Cost: a comparison; 100-200 ns and a move of the result when the stack is used up.
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
