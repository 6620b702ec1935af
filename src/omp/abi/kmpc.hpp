// SPDX-License-Identifier: BSL-1.0
// The structures that clang's compiled code shares with its OpenMP library. The numbers of threads
// that the code passes are not used: who calls is what this_member() says.
#pragma once

#include "core/events.hpp"
#include "core/locks.hpp"
#include "core/team.hpp"

#include <cstddef>
#include <cstdint>

namespace quern::omp {

/// Where a construct stands in the source, and bits about it.
struct kmpc_place {
    std::int32_t reserved;
    std::int32_t flags;
    std::int32_t more[2];
    const char* source;
};
/// The compiler has written down how to reduce with atomic operations.
inline constexpr std::int32_t k_place_has_atomic_reduction = 0x10;

/// The name of a critical region: zeros at first. The first four bytes are the lock.
union kmpc_name {
    std::int32_t words[8];
    word_lock lock;
};
static_assert(sizeof(kmpc_name) == 32);

struct kmpc_task;
using kmpc_routine = std::int32_t (*)(std::int32_t thread, kmpc_task* task);

/// A task as the compiled code sees it; what it copies follows.
struct kmpc_task {
    void* shared;
    kmpc_routine routine;
    std::int32_t part;  ///< of an untied task, which is entered once for each part
    kmpc_routine destroy;
    void* priority;
};
static_assert(sizeof(kmpc_task) == 40);

struct kmpc_dependence {
    std::intptr_t address;
    std::size_t length;
    std::uint8_t flags;
};
static_assert(sizeof(kmpc_dependence) == 24);

/// One variable of a reduction by tasks.
struct kmpc_reduction {
    void* shared;
    void* original;
    std::size_t size;
    void (*initialize)(void* copy, void* original);
    void (*destroy)(void* copy);
    void (*combine)(void* into, void* from);
    std::uint32_t flags;
};
static_assert(sizeof(kmpc_reduction) == 56);

/// A loop of those around a construct `ordered depend`.
struct kmpc_dimension {
    std::int64_t first;
    std::int64_t last;
    std::int64_t step;
};

}  // namespace quern::omp
