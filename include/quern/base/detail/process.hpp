// SPDX-License-Identifier: BSL-1.0
// Process-wide state, and fork(). The child of a fork has only the calling thread: a lock held by
// another thread would stay locked there, with the data it protects half changed. So every
// process-wide lock is one of these, and fork() takes them all before it copies. Nothing
// process-wide may be initialised behind another kind of lock, which includes function-local
// statics, unless a thread that holds one of these has initialised it before.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace quern::detail {

/// In the order in which one thread may take them.
enum class process_lock : std::uint8_t {
    listeners,         ///< the listeners; held while one of them ends
    default_runtime,   ///< the default runtime
    new_runtime,       ///< one runtime is created at a time, including detection of the machine
    settings,          ///< process-wide settings
    exit_actions,      ///< actions at process exit
    live,              ///< processes that can be inspected from outside
    pollers,           ///< the pool of each poller
    stacks,            ///< free stacks
    process_registry,  ///< list of threads, for reports
    adaptation,        ///< policies, and the log of decisions
    counters,          ///< the counters, and the runtimes they belong to
    trace,             ///< recorders and listeners of traces
    time,              ///< functions that are called when they are due
    blocks,            ///< the shared pool of blocks
};

inline constexpr int k_process_locks =
    static_cast<int>(process_lock::blocks) + 1;  // blocks is the last

/// The lock lives as long as the process. User code must not run while it is held.
std::mutex& lock_of(process_lock which) noexcept;

/// Number of fork() calls between the first process of the program and this one. State that
/// recorded a smaller number was inherited: its threads do not exist in this process.
extern std::atomic<unsigned> process_generation;

inline unsigned fork_generation() noexcept {
    return process_generation.load(std::memory_order_relaxed);
}

/// Priority of destructor functions that free process-wide state: they run after the destructors of
/// all static objects, when the process ends or the plug-in is unloaded.
inline constexpr int k_after_static_objects = 101;

}  // namespace quern::detail
