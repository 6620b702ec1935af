// SPDX-License-Identifier: BSL-1.0
// Tasks of clang's programs: the compiled code fills a task that the library has allocated.
#pragma once

#include "abi/kmpc.hpp"
#include "core/tasks.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace quern::omp {

/// Private copies in a task may need it: clang does not say how they are to be aligned, and relies
/// on what libomp gives.
inline constexpr std::size_t k_task_alignment = 64;

/// Stands before the task that the compiled code sees.
struct alignas(k_task_alignment) kmpc_head {
    deferred_task* owner = nullptr;  ///< null: the task is run where it is made, at once
    task* included = nullptr;        ///< without owner and between begin_if0 and complete_if0
    task* before = nullptr;          ///< the present task at begin_if0
    std::uint32_t steps = 0;         ///< without owner: the size of the block
    std::uint32_t task_bytes = 0;    ///< of the task with what it copies
    std::uint32_t shared_bytes = 0;
    std::int32_t flags = 0;
    bool is_running = false;
    bool runs_again = false;  ///< an untied task asks for its next part
    std::atomic<unsigned> event{0};

    kmpc_task* visible() noexcept { return reinterpret_cast<kmpc_task*>(this + 1); }
    const kmpc_task* visible() const noexcept {
        return reinterpret_cast<const kmpc_task*>(this + 1);
    }
    /// Of the head, the task and what it shares.
    std::size_t bytes() const noexcept { return sizeof(kmpc_head) + task_bytes + shared_bytes; }
};

inline kmpc_head& head_of(kmpc_task* of) noexcept {
    return *(reinterpret_cast<kmpc_head*>(of) - 1);
}

inline constexpr std::int32_t k_task_is_final = 2;
inline constexpr std::int32_t k_task_has_destroy = 8;
inline constexpr std::int32_t k_task_is_detachable = 64;

kmpc_task* allocate_task(member& here, std::int32_t flags, std::size_t task_bytes,
                         std::size_t shared_bytes, kmpc_routine routine) noexcept;
/// One like another, in the data of `owner`. Its private copies and the values of its own are not
/// set.
kmpc_task* begin_task_in(deferred_task& owner, const kmpc_head& like) noexcept;
/// The body of a task whose data begin with a head.
void run_task_of_head(void* head);
/// Runs the task, or leaves it for later.
void add_task(member& here, kmpc_task* made) noexcept;
/// Runs the task here and now, as `if(false)` asks.
void run_undeferred(member& here, kmpc_task* made) noexcept;
/// The task has not run and is not to run.
void discard_task(member& here, kmpc_task* made) noexcept;

}  // namespace quern::omp
