// SPDX-License-Identifier: BSL-1.0
// gcc's entry points for cancellation, which is off, for teams, and for what is not implemented: a
// program that calls such a function ends with its name. Without an entry here a preloaded library
// would leave the call to libgomp, which knows nothing of the team.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "core/settings.hpp"
#include "core/shares.hpp"
#include "core/team.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>

using namespace quern::omp;

QUERN_OMP_ENTRY void GOMP_warning(const char* text, std::size_t length) {
    std::fprintf(stderr, "quern: the program warns: %.*s\n", static_cast<int>(length), text);
}
QUERN_OMP_ENTRY void GOMP_error(const char* text, std::size_t length) {
    fatal("the program ends with an error: %.*s", static_cast<int>(length), text);
}

// The clause and the directive allocate.
extern "C" void* omp_aligned_alloc(std::size_t alignment, std::size_t size,
                                   std::uintptr_t allocator);
extern "C" void omp_free(void* memory, std::uintptr_t allocator);
QUERN_OMP_ENTRY void* GOMP_alloc(std::size_t alignment, std::size_t size,
                                 std::uintptr_t allocator) {
    return omp_aligned_alloc(alignment, size, allocator);
}
QUERN_OMP_ENTRY void GOMP_free(void* memory, std::uintptr_t allocator) {
    omp_free(memory, allocator);
}

#define QUERN_OMP_MISSING(NAME) \
    QUERN_OMP_ENTRY void NAME() { is_missing(#NAME); }

// Regions of objects that gcc before 4.9 has compiled.
QUERN_OMP_MISSING(GOMP_parallel_start)
QUERN_OMP_MISSING(GOMP_parallel_end)
QUERN_OMP_MISSING(GOMP_parallel_loop_static_start)
QUERN_OMP_MISSING(GOMP_parallel_loop_dynamic_start)
QUERN_OMP_MISSING(GOMP_parallel_loop_guided_start)
QUERN_OMP_MISSING(GOMP_parallel_loop_runtime_start)
QUERN_OMP_MISSING(GOMP_parallel_sections_start)
#undef QUERN_OMP_MISSING

// NOLINTEND(readability-identifier-naming)
