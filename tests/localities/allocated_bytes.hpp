// SPDX-License-Identifier: BSL-1.0
// Operators new and delete of a test program, which count bytes. Included by one source of it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::size_t g_allocated = 0;  // bytes, by all operators new since it was set

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
    g_allocated += size;
    if (void* const memory = std::malloc(size != 0 ? size : 1)) {
        return memory;
    }
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
