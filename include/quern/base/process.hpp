// SPDX-License-Identifier: BSL-1.0
// What a process has once, and fork(). The child of a fork has only the thread that called it: a
// lock that another thread held would stay locked there, and what it protects half changed. So
// every lock of the whole process is one of these, and fork() takes them all before it copies.
// Nothing of the process may be initialised behind a lock of another kind, which includes static
// variables of functions, unless a thread that holds one of these has done it before.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace quern::detail {

/// In the order in which a thread may take them, one after another.
enum class process_lock : std::uint8_t {
    default_runtime,  ///< which runtime is the default one
    new_runtime,      ///< one runtime is made at a time; the machine is read meanwhile
    settings,         ///< what was said for the whole process
    last_acts,        ///< what is to be written before the process ends
    live,             ///< who may be looked into from outside
    stacks,           ///< the free stacks
    census,           ///< who is there, for reports
    counters,         ///< which counters there are, and of which runtimes
    trace,            ///< who records and listens
    blocks,           ///< memory of tasks that no thread has for itself
};

inline constexpr int k_process_locks = static_cast<int>(process_lock::blocks) + 1;  // the last

/// The lock, which lives as long as the process. User code must not run while it is held.
std::mutex& lock_of(process_lock which) noexcept;

/// How many calls of fork() lie between the first process of its program and this one: what
/// remembers a smaller number was inherited, and its threads are not in this process.
extern std::atomic<unsigned> process_generation;

inline unsigned fork_generation() noexcept {
    return process_generation.load(std::memory_order_relaxed);
}

/// Priority of the destructor functions that free what the process has kept: they run after the
/// destructors of all static objects, at the end of the process or of the plug-in.
inline constexpr int k_after_static_objects = 101;

}  // namespace quern::detail
