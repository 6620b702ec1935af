// SPDX-License-Identifier: BSL-1.0
// The process registry: all pools, the outside threads that wait in Quern, and Quern's own threads
// that never wake a task. Only reports read it; nothing that schedules does. An entry is made when
// a pool is created and when an outside thread goes to sleep; both are slow paths.
#pragma once

#include <quern/base/detail/call_frames.hpp>
#include <quern/base/detail/intrusive_list.hpp>
#include <quern/base/detail/process.hpp>
#include <quern/scheduler/detail/wait_reason.hpp>

#include <sys/types.h>

#include <cstdint>
#include <mutex>

namespace quern::detail {

class pool;
class external_event;

/// An address that belongs to the calling thread as long as it lives: the lock holder's identity
/// when it is not a worker. Never 0, lowest bit 0. Out of line, so that no caller keeps the address
/// of thread-local memory across a suspension.
std::uintptr_t this_thread_outside() noexcept;

/// An outside thread that waits for an event, from construction to destruction.
class outside_wait : public list_link {
public:
    /// `place`: registers of a caller that does not return before this object is destroyed.
    outside_wait(const external_event& event, const wait_reason& why,
                 const frame_registers& place) noexcept;
    ~outside_wait();
    outside_wait(const outside_wait&) = delete;
    outside_wait& operator=(const outside_wait&) = delete;

    const external_event& event;
    wait_note note;
    const frame_registers place;
    const pid_t thread;  ///< kernel thread id
    const std::uintptr_t holder;
};

/// Marks the calling thread as one of Quern's own that serve observers (counters, traces) and never
/// wake a task, so that a hang report does not wait for it. The thread itself makes and destroys
/// it: for its whole life, or around a part that runs no user code.
class harmless_thread : public list_link {
public:
    harmless_thread() noexcept;
    ~harmless_thread();
    harmless_thread(const harmless_thread&) = delete;
    harmless_thread& operator=(const harmless_thread&) = delete;

    const pid_t thread;  ///< kernel thread id
};

/// Registers a pool from construction to destruction.
class pool_entry : public list_link {
public:
    explicit pool_entry(pool& p) noexcept;
    ~pool_entry();
    pool_entry(const pool_entry&) = delete;
    pool_entry& operator=(const pool_entry&) = delete;

    pool& which;
};

/// The lists. Lives as long as the process, also while static objects are destroyed. The child of a
/// fork() forgets its parent's threads; the parent's pools stay in the list but do not count.
class process_registry {
public:
    static process_registry& of_process() noexcept;

    /// While it is held, all entries stay in place; a woken waiter cannot leave.
    static std::mutex& lock() noexcept { return lock_of(process_lock::process_registry); }

    intrusive_list<pool_entry> pools;
    intrusive_list<outside_wait> outside;
    intrusive_list<harmless_thread> harmless;

    /// In the child of a fork(): these threads do not exist, and their stacks are reused.
    void begin_child() noexcept {
        outside.forget();
        harmless.forget();
    }
};

}  // namespace quern::detail
