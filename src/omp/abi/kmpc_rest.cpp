// SPDX-License-Identifier: BSL-1.0
// Entry points of libomp that code of clang seldom asks for: locks, allocators, and clauses of
// OpenMP 6 that are hints.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "abi/kmpc.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

using namespace quern::omp;

extern "C" {
void __kmpc_push_num_threads(kmpc_place* place, std::int32_t thread, std::int32_t threads);
void* omp_calloc(std::size_t count, std::size_t size, std::uintptr_t allocator);
void* omp_realloc(void* memory, std::size_t size, std::uintptr_t allocator, std::uintptr_t from);
std::uintptr_t omp_get_default_allocator();
void omp_set_default_allocator(std::uintptr_t allocator);
void omp_init_lock(void* lock);
void omp_init_nest_lock(void* lock);
void omp_destroy_lock(void* lock);
void omp_destroy_nest_lock(void* lock);
void omp_set_lock(void* lock);
void omp_set_nest_lock(void* lock);
void omp_unset_lock(void* lock);
void omp_unset_nest_lock(void* lock);
int omp_test_lock(void* lock);
int omp_test_nest_lock(void* lock);
}

#define QUERN_OMP_LOCKS(KIND)                                                                  \
    QUERN_OMP_ENTRY void __kmpc_init_##KIND(kmpc_place*, std::int32_t, void* lock) {           \
        omp_init_##KIND(lock);                                                                 \
    }                                                                                          \
    QUERN_OMP_ENTRY void __kmpc_init_##KIND##_with_hint(kmpc_place*, std::int32_t, void* lock, \
                                                        std::uintptr_t) {                      \
        omp_init_##KIND(lock);                                                                 \
    }                                                                                          \
    QUERN_OMP_ENTRY void omp_init_##KIND##_with_hint(void* lock, std::uintptr_t) {             \
        omp_init_##KIND(lock);                                                                 \
    }                                                                                          \
    QUERN_OMP_ENTRY void omp_init_##KIND##_with_hint_(void* lock, const std::int64_t*) {       \
        omp_init_##KIND(lock);                                                                 \
    }                                                                                          \
    QUERN_OMP_ENTRY void __kmpc_destroy_##KIND(kmpc_place*, std::int32_t, void* lock) {        \
        omp_destroy_##KIND(lock);                                                              \
    }                                                                                          \
    QUERN_OMP_ENTRY void __kmpc_set_##KIND(kmpc_place*, std::int32_t, void* lock) {            \
        omp_set_##KIND(lock);                                                                  \
    }                                                                                          \
    QUERN_OMP_ENTRY void __kmpc_unset_##KIND(kmpc_place*, std::int32_t, void* lock) {          \
        omp_unset_##KIND(lock);                                                                \
    }                                                                                          \
    QUERN_OMP_ENTRY std::int32_t __kmpc_test_##KIND(kmpc_place*, std::int32_t, void* lock) {   \
        return omp_test_##KIND(lock);                                                          \
    }

QUERN_OMP_LOCKS(lock)
QUERN_OMP_LOCKS(nest_lock)
#undef QUERN_OMP_LOCKS

QUERN_OMP_ENTRY void* __kmpc_calloc(std::int32_t, std::size_t count, std::size_t size,
                                    std::uintptr_t allocator) {
    return omp_calloc(count, size, allocator);
}
QUERN_OMP_ENTRY void* __kmpc_realloc(std::int32_t, void* memory, std::size_t size,
                                     std::uintptr_t allocator, std::uintptr_t from) {
    return omp_realloc(memory, size, allocator, from);
}
QUERN_OMP_ENTRY std::uintptr_t __kmpc_get_default_allocator(std::int32_t) {
    return omp_get_default_allocator();
}
QUERN_OMP_ENTRY void __kmpc_set_default_allocator(std::int32_t, std::uintptr_t allocator) {
    omp_set_default_allocator(allocator);
}

// A scope has no state.
QUERN_OMP_ENTRY void __kmpc_scope(kmpc_place*, std::int32_t, void*) {}
QUERN_OMP_ENTRY void __kmpc_end_scope(kmpc_place*, std::int32_t, void*) {}

QUERN_OMP_ENTRY void __kmpc_push_num_threads_strict(kmpc_place* place, std::int32_t thread,
                                                    std::int32_t threads, int, const char*) {
    __kmpc_push_num_threads(place, thread, threads);
}
// For the levels within, the first number counts too.
QUERN_OMP_ENTRY void __kmpc_push_num_threads_list(kmpc_place* place, std::int32_t thread,
                                                  std::uint32_t length,
                                                  const std::int32_t* threads) {
    __kmpc_push_num_threads(place, thread, length != 0 ? threads[0] : 0);
}
QUERN_OMP_ENTRY void __kmpc_push_num_threads_list_strict(kmpc_place* place, std::int32_t thread,
                                                         std::uint32_t length,
                                                         const std::int32_t* threads, int,
                                                         const char*) {
    __kmpc_push_num_threads_list(place, thread, length, threads);
}

// NOLINTEND(readability-identifier-naming)
