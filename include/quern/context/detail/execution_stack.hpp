// SPDX-License-Identifier: BSL-1.0
// A user-level stack that can be left and entered again: its memory, its saved position, and the
// state of a flow of control besides registers: the exceptions being handled and the sanitizers'
// state. The scheduler's `context` derives from it. It does not know tasks.
#pragma once

#include <quern/context/detail/sanitizer.hpp>
#include <quern/context/detail/switch.hpp>
#include <quern/context/stack_memory.hpp>

namespace quern::detail {

/// The C++ runtime's record of exceptions being handled (Itanium C++ ABI, section 2.2.2). It lives
/// in thread-local memory and must be switched with the stack, or a catch block that suspends loses
/// its exception.
struct exception_globals {
    void* caught = nullptr;
    unsigned uncaught = 0;
};

/// The calling thread's record.
exception_globals& this_thread_exceptions() noexcept;

/// The calling thread's own stack; empty if unknown. 50 us on a main thread, for which the kernel
/// must be asked.
stack_span this_thread_stack() noexcept;

class execution_stack {
public:
    execution_stack() = default;
    explicit execution_stack(const stack_span& span) noexcept : m_span(span) {}
    execution_stack(const execution_stack&) = delete;
    execution_stack& operator=(const execution_stack&) = delete;

    /// Makes the caller's stack one that can be switched back to.
    void adopt(const stack_span& running_on) noexcept;
    /// As adopt(), for the calling thread's own stack.
    void adopt_thread() noexcept;

    /// Discards all frames: the next switch to this stack calls `entry(argument)`.
    /// Requires: no code runs on it.
    void restart(stack_entry entry, void* argument) noexcept;

    /// Frees the sanitizers' state of it. Requires: no code runs on it.
    void forget() noexcept;

    /// Leaves this stack for `to`. Returns after a switch back, perhaps on another thread. `final`:
    /// there will be no switch back. `thread` is the calling thread's exception record.
    void switch_to(execution_stack& to, exception_globals& thread, bool final) noexcept;

    /// Leaves this stack and calls `entry(argument)` on the empty stack `on`. When the entry
    /// returns, so does this, and returned() must follow. If `on` was left before that, this
    /// returns as switch_to does, and the entry must not return. If can_call() is false, use
    /// restart() and switch_to().
    void call(execution_stack& on, exception_globals& thread, stack_entry entry,
              void* argument) noexcept;
    void returned(exception_globals& thread) const noexcept { thread = m_exceptions; }
    static bool can_call() noexcept;

    /// Must be called first by the entry function of a fresh stack.
    void entered() noexcept { sanitizer_after_switch(m_sanitizer); }

    /// For reports, while no code runs on it: its resumption point. See saved_registers().
    bool registers(frame_registers& into) const noexcept;

    const stack_span& span() const noexcept { return m_span; }

private:
    stack_pointer m_sp = nullptr;
    exception_globals m_exceptions;
    stack_span m_span;
    sanitizer_state m_sanitizer;
};

}  // namespace quern::detail
