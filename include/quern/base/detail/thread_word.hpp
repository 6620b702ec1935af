// SPDX-License-Identifier: BSL-1.0
// Reads a thread_local pointer anew at every call. The compiler may cache the address of
// thread-local memory across a call, which is wrong if the call suspends and resumes on another
// thread.
#pragma once

#include <quern/base/detail/config.hpp>

#include <cstdint>

/// The attributes of such a pointer. initial-exec: it lies in the static TLS block of every thread.
/// If Quern is part of a library that is loaded at run time, it takes eight of the bytes that the C
/// library reserves for this.
#define QUERN_THREAD_WORD extern "C" [[gnu::tls_model("initial-exec")]] constinit thread_local

/// The body of a function that returns the pointer `name`, which has C linkage.
#if defined(__x86_64__)
#    define QUERN_READ_THREAD_WORD(type, name)                                                  \
        type* value;                                                                            \
        asm volatile("movq " #name "@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(value)); \
        return value
#elif defined(__aarch64__)
#    define QUERN_READ_THREAD_WORD(type, name)                                         \
        type* value;                                                                   \
        std::uintptr_t base;                                                           \
        asm volatile("mrs %1, tpidr_el0\n\tadrp %0, :gottprel:" #name                  \
                     "\n\tldr %0, [%0, #:gottprel_lo12:" #name "]\n\tldr %0, [%1, %0]" \
                     : "=&r"(value), "=&r"(base));                                     \
        return value
#else
#    error "quern: no way to read thread-local memory that survives a change of thread"
#endif
