// SPDX-License-Identifier: BSL-1.0
// Tells a tool of the program (OMPT) what happens. Without a tool each place is one branch on
// `g_tool`. Protocol: ../README.md, section "Tools".
#pragma once

#include "tools/interface.hpp"

#include <quern/base/detail/config.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace quern::omp {
struct member;
struct deferred_task;
struct first_share;
}  // namespace quern::omp

namespace quern::omp::tools {

struct tool;
/// Null: no tool, or it has been finalized. Set once, before the first event.
extern constinit std::atomic<tool*> g_tool;

QUERN_ALWAYS_INLINE bool is_active() noexcept {
    return g_tool.load(std::memory_order_acquire) != nullptr;
}

/// A region as a tool knows it. Lies where the region was met.
struct region {
    tool_data data{};
    region* outer = nullptr;
    struct task_record* met_by = nullptr;
    void (*body)(void*) = nullptr;
    void* argument = nullptr;
    const first_share* begins_with = nullptr;
    std::atomic<unsigned> size{1};
    std::atomic<unsigned> left{0};  ///< members whose implicit task has begun and not ended
};

/// A task as a tool knows it.
struct task_record {
    tool_data data{};
    tool_frame frame{};
    task_record* parent = nullptr;  ///< who made it
    task_record* before = nullptr;  ///< what the thread runs again after it
    region* within = nullptr;
    unsigned flags = 0;
    unsigned number = 0;  ///< of the thread that runs it
    construct at_work = construct::none;
    std::uint64_t count = 0;
    state state_before = state::parallel;
};

/// Behind the data of each deferred task, if there is a tool.
inline constexpr std::size_t k_record_bytes = sizeof(task_record);
inline std::size_t record_bytes() noexcept { return is_active() ? k_record_bytes : 0; }

/// Looks for a tool and begins with it, at the first call of the process.
QUERN_COLD void start() noexcept;

/// A thread of the program meets OpenMP for the first time, and ends.
QUERN_COLD void first_team_begins() noexcept;
QUERN_COLD void first_team_ends() noexcept;
QUERN_COLD void worker_begins() noexcept;
QUERN_COLD void worker_ends() noexcept;

/// omp::run_region() between the two events of a region.
QUERN_COLD void run_told_region(void (*body)(void*), void* argument, unsigned wanted,
                                const first_share* begins_with) noexcept;
/// What members run instead of the body. `data`: the region.
void run_told_body(void* data) noexcept;
QUERN_COLD void lone_region_begins() noexcept;
QUERN_COLD void lone_region_ends() noexcept;

/// While it lives, the member runs its part of a region.
class implicit_scope {
public:
    implicit_scope(const member& one, void (*body)(void*), void* argument) noexcept {
        if (body == run_told_body) [[unlikely]] {
            begin(one, argument);
        }
    }
    implicit_scope(const implicit_scope&) = delete;
    implicit_scope& operator=(const implicit_scope&) = delete;
    ~implicit_scope() {
        if (m_record != nullptr) [[unlikely]] {
            end();
        }
    }

private:
    QUERN_COLD void begin(const member& one, void* data) noexcept;
    QUERN_COLD void end() noexcept;
    task_record* m_record = nullptr;
};

// -- tasks: callers have seen is_active() ----------------------------------------------------

QUERN_COLD void make_record(deferred_task& made) noexcept;
/// `flags`: beside k_explicit_task.
QUERN_COLD void task_created(deferred_task& made, unsigned flags, bool has_dependences) noexcept;
QUERN_COLD void task_depends(deferred_task& made, const tool_dependence* on, int count) noexcept;
QUERN_COLD void task_begins(deferred_task& next) noexcept;
QUERN_COLD void task_ends(deferred_task& ended, status how) noexcept;
QUERN_COLD void task_fulfilled(deferred_task& ended) noexcept;
/// The same for one that runs where it is made and has no record of its own.
QUERN_COLD task_record* included_begins(unsigned flags) noexcept;
QUERN_COLD void included_ends(task_record* ended) noexcept;
/// What the thread runs.
task_record* present_record() noexcept;

// -- waiting, mutual exclusion, work ---------------------------------------------------------

/// While it lives, the thread is in a region of synchronization, and waits there.
class sync_scope {
public:
    explicit sync_scope(sync kind, address caller = __builtin_return_address(0)) noexcept {
        if (is_active()) [[unlikely]] {
            begin(kind, caller);
        }
    }
    sync_scope(const sync_scope&) = delete;
    sync_scope& operator=(const sync_scope&) = delete;
    ~sync_scope() {
        if (m_begun) [[unlikely]] {
            end();
        }
    }

private:
    QUERN_COLD void begin(sync kind, address caller) noexcept;
    QUERN_COLD void end() noexcept;
    bool m_begun = false;
    sync m_kind{};
    state m_before{};
    address m_caller = nullptr;
};

/// A taskgroup begins; it waits and ends. A reduction begins and ends.
QUERN_COLD void tell_sync(sync kind, int endpoint, address caller) noexcept;
QUERN_COLD void tell_group_end(int endpoint, address caller) noexcept;
QUERN_COLD void tell_reduction(int endpoint, address caller) noexcept;

QUERN_COLD void tell_acquire(mutex kind, const void* which, address caller,
                             bool tries = false) noexcept;
QUERN_COLD void tell_acquired(mutex kind, const void* which, address caller,
                              bool tried = false) noexcept;
QUERN_COLD void tell_released(mutex kind, const void* which, address caller) noexcept;
QUERN_COLD void tell_lock_init(mutex kind, const void* which, address caller) noexcept;
QUERN_COLD void tell_lock_destroy(mutex kind, const void* which, address caller) noexcept;
QUERN_COLD void tell_nested(const void* which, int endpoint, address caller) noexcept;

/// `lock()` between the events of a mutex.
template <class Lock>
QUERN_ALWAYS_INLINE void acquire(mutex kind, const void* which, address caller, Lock&& lock) {
    const bool told = is_active();
    if (told) [[unlikely]] {
        tell_acquire(kind, which, caller);
    }
    lock();
    if (told) [[unlikely]] {
        tell_acquired(kind, which, caller);
    }
}

/// `unlock()`, and then the event.
template <class Unlock>
QUERN_ALWAYS_INLINE void release(mutex kind, const void* which, address caller, Unlock&& unlock) {
    unlock();
    if (is_active()) [[unlikely]] {
        tell_released(kind, which, caller);
    }
}

/// `wait()` for a taskgroup between the events of its end.
template <class Wait>
QUERN_ALWAYS_INLINE void end_group(Wait&& wait) {
    const bool told = is_active();
    if (told) [[unlikely]] {
        tell_group_end(k_begin, nullptr);
    }
    wait();
    if (told) [[unlikely]] {
        tell_group_end(k_end, nullptr);
    }
}

/// One construct at a time on each implicit task: one that begins ends the one before it.
QUERN_COLD void tell_work_begins(construct what, std::uint64_t count, address caller) noexcept;
QUERN_COLD void tell_work_ends(address caller) noexcept;
QUERN_ALWAYS_INLINE void work_begins(construct what, std::uint64_t count, address caller) noexcept {
    if (is_active()) [[unlikely]] {
        tell_work_begins(what, count, caller);
    }
}
QUERN_ALWAYS_INLINE void work_ends(address caller) noexcept {
    if (is_active()) [[unlikely]] {
        tell_work_ends(caller);
    }
}
/// A single: the executor is at work until its end, or the next barrier.
QUERN_COLD void tell_single(bool executes, address caller) noexcept;
QUERN_COLD void tell_taskloop(int endpoint, std::uint64_t count, address caller) noexcept;
QUERN_COLD void tell_masked(int endpoint, address caller) noexcept;
QUERN_COLD void tell_cancel(int what, address caller) noexcept;
QUERN_COLD void tell_flush(address caller) noexcept;

}  // namespace quern::omp::tools
