// SPDX-License-Identifier: BSL-1.0
// Whether the stack under the caller runs low, and a call on a fresh one: on a worker on another
// context, elsewhere on a stack from the same store. Nothing but on_enough_stack
// (task/enough_stack.hpp) and fork_join use these: everything else that runs code of users goes
// through them. Why so: docs/design/0012-deep-recursion.md.
#pragma once

#include <quern/base/config.hpp>
#include <quern/context/stack_memory.hpp>
#include <quern/scheduler/context.hpp>

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

/// Whether `sp`, a position on the stack of a thread that is no worker, is near its end. False on a
/// stack of which nothing is known, such as a fibre of the host's.
bool thread_runs_low(const void* sp) noexcept;

/// Whether the stack of the caller runs low. A load and a comparison on a worker, 3 ns elsewhere.
QUERN_ALWAYS_INLINE bool stack_runs_low() noexcept {
    const context* const here = current_context();
    return here != nullptr ? here->is_low(stack_position()) : thread_runs_low(stack_position());
}

/// Calls `body(argument)` on a fresh stack and returns when it has returned: a deep recursion goes
/// on there. Otherwise a nested call: same task, same locals, and on a thread that is no worker the
/// same thread. On such a thread, when no memory for a stack is left, a call on this one. Requires:
/// `body` does not throw. Cost: 100-200 ns.
QUERN_COLD void call_on_fresh_stack(void (*body)(void* argument), void* argument) noexcept;

/// Bytes between `sp` and the end of the stack that it points to, if it is the caller's; on a
/// thread that is no worker too.
std::size_t bytes_left_of_stack(const void* sp) noexcept;

}  // namespace quern::detail
