// SPDX-License-Identifier: BSL-1.0
// The allocators of omp.h: all memory is of one kind, so an allocator is an alignment.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <malloc.h>

namespace {

/// An allocator of the program. Those of the standard are small numbers.
struct own_allocator {
    std::size_t alignment = alignof(std::max_align_t);
};
constexpr std::uintptr_t k_last_of_standard = 0xFF;
constexpr std::uintptr_t k_default_allocator = 1;

struct allocator_trait {
    int key;
    std::uintptr_t value;
};
constexpr int k_alignment = 2;
constexpr int k_pool_size = 4;

constinit thread_local std::uintptr_t tls_default_allocator = k_default_allocator;

std::size_t alignment_of(std::uintptr_t allocator, std::size_t wanted) noexcept {
    const std::uintptr_t used = allocator != 0 ? allocator : tls_default_allocator;
    std::size_t least = alignof(std::max_align_t);
    if (used > k_last_of_standard) {
        least = reinterpret_cast<const own_allocator*>(used)->alignment;
    }
    return std::max(least, wanted);
}

constexpr bool is_power_of_two(std::size_t number) noexcept {
    return number != 0 && (number & (number - 1)) == 0;
}

/// Null for no bytes, for an alignment that is none, and without memory.
void* allocate(std::size_t alignment, std::size_t size, std::uintptr_t allocator) noexcept {
    alignment = alignment_of(allocator, alignment);
    if (size == 0 || !is_power_of_two(alignment) || size > SIZE_MAX - alignment) {
        return nullptr;
    }
    return std::aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
}

void* allocate_zeros(std::size_t alignment, std::size_t count, std::size_t size,
                     std::uintptr_t allocator) noexcept {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        return nullptr;
    }
    void* const made = allocate(alignment, bytes, allocator);
    return made != nullptr ? std::memset(made, 0, bytes) : nullptr;
}

}  // namespace

// An allocator with a limit (pool_size) is none that can be had: null.
QUERN_OMP_ENTRY std::uintptr_t omp_init_allocator(std::uintptr_t, int count,
                                                  const allocator_trait* traits) {
    own_allocator made;
    for (int i = 0; i < count; ++i) {
        if (traits[i].key == k_pool_size) {
            return 0;
        }
        if (traits[i].key == k_alignment) {
            if (!is_power_of_two(traits[i].value)) {
                return 0;
            }
            made.alignment = std::max(made.alignment, traits[i].value);
        }
    }
    return reinterpret_cast<std::uintptr_t>(new own_allocator(made));
}
QUERN_OMP_ENTRY void omp_destroy_allocator(std::uintptr_t allocator) {
    if (allocator > k_last_of_standard) {
        delete reinterpret_cast<own_allocator*>(allocator);
    }
}
QUERN_OMP_ENTRY void omp_set_default_allocator(std::uintptr_t allocator) {
    tls_default_allocator = allocator != 0 ? allocator : k_default_allocator;
}
QUERN_OMP_ENTRY std::uintptr_t omp_get_default_allocator() { return tls_default_allocator; }

// Fortran passes references.
QUERN_OMP_ENTRY std::uintptr_t omp_init_allocator_(const std::uintptr_t* space,
                                                   const std::int32_t* count,
                                                   const allocator_trait* traits) {
    return omp_init_allocator(*space, *count, traits);
}
QUERN_OMP_ENTRY std::uintptr_t omp_init_allocator_8_(const std::uintptr_t* space,
                                                     const std::int64_t* count,
                                                     const allocator_trait* traits) {
    return omp_init_allocator(*space, static_cast<int>(*count), traits);
}
QUERN_OMP_ENTRY void omp_destroy_allocator_(const std::uintptr_t* allocator) {
    omp_destroy_allocator(*allocator);
}
QUERN_OMP_ENTRY void omp_set_default_allocator_(const std::uintptr_t* allocator) {
    omp_set_default_allocator(*allocator);
}
QUERN_OMP_ENTRY std::uintptr_t omp_get_default_allocator_() { return omp_get_default_allocator(); }

QUERN_OMP_ENTRY void* omp_alloc(std::size_t size, std::uintptr_t allocator) {
    return allocate(1, size, allocator);
}
QUERN_OMP_ENTRY void* omp_aligned_alloc(std::size_t alignment, std::size_t size,
                                        std::uintptr_t allocator) {
    return allocate(alignment, size, allocator);
}
QUERN_OMP_ENTRY void* omp_calloc(std::size_t count, std::size_t size, std::uintptr_t allocator) {
    return allocate_zeros(1, count, size, allocator);
}
QUERN_OMP_ENTRY void* omp_aligned_calloc(std::size_t alignment, std::size_t count, std::size_t size,
                                         std::uintptr_t allocator) {
    return allocate_zeros(alignment, count, size, allocator);
}
QUERN_OMP_ENTRY void omp_free(void* memory, std::uintptr_t) { std::free(memory); }
QUERN_OMP_ENTRY void* omp_realloc(void* memory, std::size_t size, std::uintptr_t allocator,
                                  std::uintptr_t) {
    if (size == 0) {
        std::free(memory);
        return nullptr;
    }
    void* const made = allocate(1, size, allocator);
    if (made != nullptr && memory != nullptr) {
        std::memcpy(made, memory, std::min(size, ::malloc_usable_size(memory)));
        std::free(memory);
    }
    return made;
}

// What the clauses `allocate` of clang call.
QUERN_OMP_ENTRY void* __kmpc_alloc(std::int32_t, std::size_t size, std::uintptr_t allocator) {
    return allocate(1, size, allocator);
}
QUERN_OMP_ENTRY void* __kmpc_aligned_alloc(std::int32_t, std::size_t alignment, std::size_t size,
                                           std::uintptr_t allocator) {
    return allocate(alignment, size, allocator);
}
QUERN_OMP_ENTRY void __kmpc_free(std::int32_t, void* memory, std::uintptr_t) { std::free(memory); }
QUERN_OMP_ENTRY std::uintptr_t __kmpc_init_allocator(std::int32_t, std::uintptr_t space, int count,
                                                     const allocator_trait* traits) {
    return omp_init_allocator(space, count, traits);
}
QUERN_OMP_ENTRY void __kmpc_destroy_allocator(std::int32_t, std::uintptr_t allocator) {
    omp_destroy_allocator(allocator);
}

// NOLINTEND(readability-identifier-naming)
