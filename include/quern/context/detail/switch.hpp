// SPDX-License-Identifier: BSL-1.0
// Switches from one stack to another: saves the callee-saved registers on the old stack and
// restores those of the new one. A page of assembler per architecture (src/context/switch_*.S);
// Boost.Context elsewhere. Called only by execution_stack.
//
// The control words of the floating-point unit are saved with the stack, but loaded only if the
// control bits differ: reloading them for the sticky exception flags costs 50 ns on current x86
// cores (docs/design/0002-context-switch.md). So the sticky flags (fetestexcept) belong to the
// worker, not to the task.
#pragma once

#include <quern/base/detail/call_frames.hpp>

namespace quern::detail {

/// The saved position of a stack.
using stack_pointer = void*;

/// For reports: the registers with which code on the stack saved at `left_at` will resume. False if
/// unknown, as with Boost.Context. The stack may be entered meanwhile.
bool saved_registers(stack_pointer left_at, frame_registers& into) noexcept;

/// The first function on a fresh stack. Must not return.
using stack_entry = void (*)(void* argument);

extern "C" {
/// Leaves the current stack, storing its position in `*from`, and continues at `to`. 2-4 ns.
void quern_switch_stack(stack_pointer* from, stack_pointer to) noexcept;

/// Builds the first frame on an empty stack whose highest address is `top` (16-byte aligned).
/// Switching to the result calls `entry(argument)`.
stack_pointer quern_prepare_stack(void* top, stack_entry entry, void* argument) noexcept;

/// Leaves the current stack like quern_switch_stack, and calls `entry(argument)` on the empty stack
/// below `top` (16-byte aligned). Returns when the entry returns. If that stack was left by a
/// switch before, it returns on a switch to `*from` instead, and the entry must not return. Avoids
/// the return mispredictions of a switch and back. Requires: quern_calls_on_stacks.
extern const bool quern_calls_on_stacks;  // NOLINT(readability-identifier-naming): assembly
void quern_call_on_stack(stack_pointer* from, void* top, stack_entry entry,
                         void* argument) noexcept;
}

}  // namespace quern::detail
