// SPDX-License-Identifier: BSL-1.0
// Leaves and enters user-level stacks. The sanitizers must be told before the switch where it
// leads, and after it where it has arrived.
#include <quern/context/detail/execution_stack.hpp>

#include <quern/base/detail/cxx_runtime.hpp>
#include <quern/base/detail/peek.hpp>

#include <pthread.h>
#include <cstring>

namespace quern::detail {

exception_globals& this_thread_exceptions() noexcept {
    return *reinterpret_cast<exception_globals*>(abi::__cxa_get_globals());
}

stack_span this_thread_stack() noexcept {
    pthread_attr_t attributes;
    void* low = nullptr;
    std::size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &low, &size);
        pthread_attr_destroy(&attributes);
    }
    stack_span found;
    found.low = static_cast<char*>(low);
    found.top = found.low + size;
    return found;
}

void execution_stack::adopt(const stack_span& running_on) noexcept {
    m_span = running_on;
    sanitizer_adopt_thread(m_sanitizer);
}

void execution_stack::adopt_thread() noexcept { adopt(this_thread_stack()); }

void execution_stack::restart(stack_entry entry, void* argument) noexcept {
    sanitizer_forget_frames(m_span.low, static_cast<std::size_t>(m_span.top - m_span.low));
    sanitizer_destroy_fiber(m_sanitizer);
    sanitizer_create_fiber(m_sanitizer);
    m_exceptions = {};
    m_sp = quern_prepare_stack(m_span.top, entry, argument);
}

void execution_stack::forget() noexcept { sanitizer_destroy_fiber(m_sanitizer); }

bool execution_stack::registers(frame_registers& into) const noexcept {
    stack_pointer left_at = nullptr;  // its owner may resume and leave it elsewhere
    return copy_if_there(&left_at, &m_sp, sizeof left_at) && saved_registers(left_at, into);
}

void execution_stack::switch_to(execution_stack& to, exception_globals& thread,
                                bool final) noexcept {
    m_exceptions = thread;
    thread = to.m_exceptions;
    sanitizer_before_switch(final ? nullptr : &m_sanitizer, to.m_span.low,
                            static_cast<std::size_t>(to.m_span.top - to.m_span.low));
    sanitizer_switch_fiber(to.m_sanitizer);
    quern_switch_stack(&m_sp, to.m_sp);
    sanitizer_after_switch(m_sanitizer);
}

bool execution_stack::can_call() noexcept { return quern_calls_on_stacks && !k_asan && !k_tsan; }

void execution_stack::call(execution_stack& on, exception_globals& thread, stack_entry entry,
                           void* argument) noexcept {
    m_exceptions = thread;
    thread = {};
    quern_call_on_stack(&m_sp, on.m_span.top, entry, argument);
}

}  // namespace quern::detail
