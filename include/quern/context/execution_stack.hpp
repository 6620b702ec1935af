// SPDX-License-Identifier: BSL-1.0
// One user-level stack that can be left and entered again: its memory, the place where it was
// left, and what belongs to a flow of control besides registers: the exceptions being handled and
// the sanitizers' view. The scheduler's `context` derives from it. It knows nothing of tasks.
#pragma once

#include <quern/context/sanitizer.hpp>
#include <quern/context/stack_memory.hpp>
#include <quern/context/switch.hpp>

namespace quern::detail {

/// The C++ runtime's record of the exceptions that a flow of control is handling (Itanium C++ ABI,
/// section 2.2.2). It lives in thread-local memory and must follow the stack, else a catch block
/// that suspends loses its exception.
struct exception_globals {
    void* caught = nullptr;
    unsigned uncaught = 0;
};

/// The calling thread's record.
exception_globals& this_thread_exceptions() noexcept;

/// Where the calling thread's own stack lies; empty where that cannot be found out. 50 us on a main
/// thread, of which the kernel must be asked.
stack_span this_thread_stack() noexcept;

class execution_stack {
public:
    execution_stack() = default;
    explicit execution_stack(const stack_span& span) noexcept : m_span(span) {}
    execution_stack(const execution_stack&) = delete;
    execution_stack& operator=(const execution_stack&) = delete;

    /// Makes the stack on which the caller runs a place that can be returned to.
    void adopt(const stack_span& running_on) noexcept;
    /// The same with the calling thread's own stack.
    void adopt_thread() noexcept;

    /// Forgets all frames: the next switch to this stack calls `entry(argument)`.
    /// Requires: nobody runs on it.
    void restart(stack_entry entry, void* argument) noexcept;

    /// Frees what the sanitizers hold for it. Requires: nobody runs on it.
    void forget() noexcept;

    /// Leaves this stack for `to`. Returns when somebody switches back, perhaps on another thread.
    /// `final` says that nobody ever will. `thread` is the calling thread's exception record.
    void switch_to(execution_stack& to, exception_globals& thread, bool final) noexcept;

    /// Leaves this stack and calls `entry(argument)` on `on`, an empty one. When the entry returns,
    /// so does this, and returned() must follow. When `on` has been left before, this returns as
    /// switch_to does and the entry must not return. Where can_call() is false, restart and switch.
    void call(execution_stack& on, exception_globals& thread, stack_entry entry,
              void* argument) noexcept;
    void returned(exception_globals& thread) const noexcept { thread = m_exceptions; }
    static bool can_call() noexcept;

    /// To be called first by the entry function of a fresh stack.
    void entered() noexcept { sanitizer_after_switch(m_sanitizer); }

    /// For reports, while nobody runs on it: where it goes on. See saved_registers().
    bool registers(frame_registers& into) const noexcept;

    const stack_span& span() const noexcept { return m_span; }

private:
    stack_pointer m_sp = nullptr;
    exception_globals m_exceptions;
    stack_span m_span;
    sanitizer_state m_sanitizer;
};

}  // namespace quern::detail
