// SPDX-License-Identifier: BSL-1.0
// What a virtual machine charges for each access, read from a file of bench/virtual/machines. Every
// figure there names the measurement it comes from. A figure is never chosen to make a simulated
// result agree with a measured one.
#pragma once

#include <cstdint>
#include <string>

namespace virtual_time {

using picoseconds = std::uint64_t;

/// Names and meanings are those of the keys in a machine file, which gives nanoseconds.
struct costs {
    picoseconds load = 0;  ///< of a word in a line that the core holds; likewise the next two
    picoseconds store = 0;
    picoseconds modify = 0;        ///< a read-modify-write or a sequentially consistent store
    picoseconds transfer = 0;      ///< of a line that another core has written, or for writing
    picoseconds shared = 0;        ///< of a line that other cores only read, for reading
    picoseconds pause = 0;         ///< one pause instruction
    picoseconds clock = 0;         ///< reading the time stamp counter
    picoseconds yield = 0;         ///< sched_yield() when no other thread is ready
    picoseconds futex_call = 0;    ///< a futex call that neither sleeps nor wakes
    picoseconds futex_wake = 0;    ///< a futex call that wakes a thread, for its caller
    picoseconds wake_latency = 0;  ///< from then until the thread that slept runs
    picoseconds barrier = 0;       ///< membarrier(), for its caller
    picoseconds interrupt = 0;     ///< membarrier(), for each other core that runs
    picoseconds loop_turn = 0;     ///< a worker's own instructions for an item that it has found
    picoseconds inline_spawn = 0;  ///< a spawn that runs its child at once
    picoseconds queued_spawn = 0;  ///< a spawn that pushes its child, and the join of it
    picoseconds fork = 0;          ///< a fork_join whose child is not stolen
    picoseconds suspension = 0;    ///< to suspend a task and to resume it, both switches
};

/// Throws std::runtime_error, which names the line, for an unknown, repeated, or missing key.
costs read_costs(const std::string& file);
/// `what` is "key=factor".
void scale(costs& c, const std::string& what);
costs parse_costs(const std::string& text, const std::string& name);

}  // namespace virtual_time
