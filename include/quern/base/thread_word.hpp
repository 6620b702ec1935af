// SPDX-License-Identifier: BSL-1.0
// Reads a thread_local pointer afresh at every call. The compiler may keep the address of
// thread-local memory across a call, which is wrong where the call suspends and the thread is
// another one afterwards.
#pragma once

#include <quern/base/config.hpp>

#include <cstdint>

/// The attributes of such a pointer. It lies in the block that every thread has from its start,
/// also where Quern is part of a library that is loaded later: eight of the bytes that the C
/// library keeps free for such.
#define QUERN_THREAD_WORD extern "C" [[gnu::tls_model("initial-exec")]] constinit thread_local

/// The body of a function that returns the pointer of that name, whose linkage is "C".
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
