// SPDX-License-Identifier: BSL-1.0
// Changing from one stack to another: save the callee-saved registers on the stack that is left,
// take those of the stack that is entered. A page of assembler per architecture
// (src/context/switch_*.S); Boost.Context elsewhere. Called by execution_stack alone.
//
// The control words of the floating-point unit belong to the stack and are saved with it, but they
// are loaded only when the control bits differ: reloading for the sake of the sticky exception
// flags costs 50 ns on current x86 cores (docs/design/0002-context-switch.md). So the sticky flags
// (fetestexcept) belong to the worker and not to the task.
#pragma once

namespace quern::detail {

/// Where a stack that was left will go on.
using stack_pointer = void*;

/// The first function on a fresh stack. Must not return.
using stack_entry = void (*)(void* argument);

extern "C" {
/// Leaves the current stack, storing its position in `*from`, and goes on at `to`. 2-4 ns.
void quern_switch_stack(stack_pointer* from, stack_pointer to) noexcept;

/// Lays the first frame on an empty stack whose highest address is `top` (16-byte aligned);
/// switching to the result calls `entry(argument)`.
stack_pointer quern_prepare_stack(void* top, stack_entry entry, void* argument) noexcept;
}

}  // namespace quern::detail
