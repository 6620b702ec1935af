// SPDX-License-Identifier: BSL-1.0
// Who is there: all pools of the process, the threads outside that wait in Quern, and Quern's own
// threads that never wake a task. Kept for reports alone; nothing that schedules reads it. Entered
// when a pool is made and when a thread outside goes to sleep, both slow.
#pragma once

#include <quern/base/call_frames.hpp>
#include <quern/base/intrusive_list.hpp>
#include <quern/base/process.hpp>
#include <quern/scheduler/wait_reason.hpp>

#include <sys/types.h>

#include <cstdint>
#include <mutex>

namespace quern::detail {

class pool;
class external_event;

/// An address that belongs to the calling thread as long as it lives: who holds something, when it
/// is no worker. Never 0, lowest bit 0. Out of line, so that no caller keeps the address of
/// thread-local memory across a suspension.
std::uintptr_t this_thread_outside() noexcept;

/// A thread outside that waits for an event, from construction to destruction.
class outside_wait : public list_link {
public:
    /// `place`: of a caller that does not return before the end of it.
    outside_wait(const external_event& event, const wait_reason& why,
                 const frame_registers& place) noexcept;
    ~outside_wait();
    outside_wait(const outside_wait&) = delete;
    outside_wait& operator=(const outside_wait&) = delete;

    const external_event& event;
    wait_note note;
    const frame_registers place;
    const pid_t thread;           ///< as the kernel numbers it
    const std::uintptr_t holder;  ///< as this_thread_outside() gave it
};

/// The calling thread is one of Quern's own that serve who looks at the program (counters, traces)
/// and never wake a task, so a report of a hang need not wait for it. Made and destroyed by that
/// thread: for all of its life, or around the part of it that runs no code of the user's.
class harmless_thread : public list_link {
public:
    harmless_thread() noexcept;
    ~harmless_thread();
    harmless_thread(const harmless_thread&) = delete;
    harmless_thread& operator=(const harmless_thread&) = delete;

    const pid_t thread;  ///< as the kernel numbers it
};

/// A pool that can be found, from construction to destruction.
class pool_entry : public list_link {
public:
    explicit pool_entry(pool& p) noexcept;
    ~pool_entry();
    pool_entry(const pool_entry&) = delete;
    pool_entry& operator=(const pool_entry&) = delete;

    pool& which;
};

/// The lists themselves. Lives as long as the process, also while static objects are destroyed. In
/// the child of a fork() its parent's threads are forgotten, and its parent's pools stay in it and
/// count for nothing.
class census {
public:
    static census& of_process() noexcept;

    /// Whoever holds it keeps all entries in place; a waiter that has been woken cannot leave.
    static std::mutex& lock() noexcept { return lock_of(process_lock::census); }

    intrusive_list<pool_entry> pools;
    intrusive_list<outside_wait> outside;
    intrusive_list<harmless_thread> harmless;

    /// In the child of a fork(): these threads are not there, and their stacks are used again.
    void begin_child() noexcept {
        outside.forget();
        harmless.forget();
    }
};

}  // namespace quern::detail
