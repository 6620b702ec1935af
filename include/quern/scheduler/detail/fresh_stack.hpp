// SPDX-License-Identifier: BSL-1.0
// Whether the caller's stack runs low, and a call on a fresh one: on a worker on another context,
// on other threads on a stack from the same store. Only on_enough_stack
// (task/detail/enough_stack.hpp) and fork_join use these; all other code that runs user functions
// goes through them. Reasons: docs/design/0012-deep-recursion.md.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/context/stack_memory.hpp>
#include <quern/scheduler/detail/context.hpp>

namespace quern::detail {

QUERN_ALWAYS_INLINE const void* stack_position() noexcept {
#if defined(__x86_64__)
    const void* sp;
    asm("movq %%rsp, %0" : "=r"(sp));
    return sp;
#else
    return __builtin_frame_address(0);
#endif
}

/// Whether `sp`, a position on the stack of a thread that is not a worker, is near its end. False
/// on an unknown stack, such as a fibre of the host program.
bool thread_runs_low(const void* sp) noexcept;

/// Whether the caller's stack runs low. Cost: a load and a comparison on a worker, 3 ns on other
/// threads.
QUERN_ALWAYS_INLINE bool stack_runs_low() noexcept {
    const context* const here = current_context();
    return here != nullptr ? here->is_low(stack_position()) : thread_runs_low(stack_position());
}

/// Calls `body(argument)` on a fresh stack and returns when it has returned, for deep recursion.
/// Task and task locals stay the same, as in a nested call, and on a thread that is not a worker
/// also the thread. On such a thread the call stays on the present stack when there is no memory
/// for another. Requires: `body` does not throw. Cost: 100-200 ns.
QUERN_COLD void call_on_fresh_stack(void (*body)(void* argument), void* argument) noexcept;

/// The stack of the calling thread, which is not a worker.
stack_span stack_of_caller() noexcept;

/// Bytes between `sp` and the end of its stack, if that is the caller's; on any thread.
std::size_t bytes_left_of_stack(const void* sp) noexcept;

}  // namespace quern::detail
