// SPDX-License-Identifier: BSL-1.0
// Leaving and entering user-level stacks. The order of the steps matters to the sanitizers: they
// are told before the switch where we go, and after it where we are.
#include <quern/context/execution_stack.hpp>

#include <cxxabi.h>
#include <pthread.h>
#include <cstring>

namespace quern::detail {

exception_globals& this_thread_exceptions() noexcept {
    return *reinterpret_cast<exception_globals*>(abi::__cxa_get_globals());
}

void execution_stack::adopt_thread() noexcept {
    pthread_attr_t attributes;
    void* low = nullptr;
    std::size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &low, &size);
        pthread_attr_destroy(&attributes);
    }
    m_span.low = static_cast<char*>(low);
    m_span.top = m_span.low + size;
    sanitizer_adopt_thread(m_sanitizer);
}

void execution_stack::restart(stack_entry entry, void* argument) noexcept {
    sanitizer_forget_frames(m_span.low, static_cast<std::size_t>(m_span.top - m_span.low));
    sanitizer_destroy_fiber(m_sanitizer);
    sanitizer_create_fiber(m_sanitizer);
    m_exceptions = {};
    m_sp = quern_prepare_stack(m_span.top, entry, argument);
}

void execution_stack::forget() noexcept { sanitizer_destroy_fiber(m_sanitizer); }

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

}  // namespace quern::detail
