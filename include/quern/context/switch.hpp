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

#include <quern/base/call_frames.hpp>

namespace quern::detail {

/// Where a stack that was left will go on.
using stack_pointer = void*;

/// For reports: with which registers the code on a stack that was left at `left_at` goes on. False
/// where that is not known, as with Boost.Context. The stack may be entered meanwhile.
bool saved_registers(stack_pointer left_at, frame_registers& into) noexcept;

/// The first function on a fresh stack. Must not return.
using stack_entry = void (*)(void* argument);

extern "C" {
/// Leaves the current stack, storing its position in `*from`, and goes on at `to`. 2-4 ns.
void quern_switch_stack(stack_pointer* from, stack_pointer to) noexcept;

/// Lays the first frame on an empty stack whose highest address is `top` (16-byte aligned);
/// switching to the result calls `entry(argument)`.
stack_pointer quern_prepare_stack(void* top, stack_entry entry, void* argument) noexcept;

/// Leaves the current stack as quern_switch_stack does, and calls `entry(argument)` on the empty
/// stack below `top` (16-byte aligned). Returns when the entry returns, unless that stack has been
/// left by a switch before; then when somebody switches to `*from`, and the entry must not return.
/// It saves the returns that the processor mispredicts after a switch and back. Requires:
/// quern_calls_on_stacks.
extern const bool quern_calls_on_stacks;  // NOLINT(readability-identifier-naming): assembly
void quern_call_on_stack(stack_pointer* from, void* top, stack_entry entry,
                         void* argument) noexcept;
}

}  // namespace quern::detail
