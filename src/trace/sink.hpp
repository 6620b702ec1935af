// SPDX-License-Identifier: BSL-1.0
// What a tap passes on: the pieces of tasks as workers run them, told to whoever is attached.
// Called on the workers, one call at a time per worker, under a lock: a sink must neither block nor
// throw nor call anything of this layer.
#pragma once

#include <quern/base/clock.hpp>
#include <quern/base/symbols.hpp>
#include <quern/scheduler/context.hpp>

#include <cstdint>

namespace quern::trace::detail {

using quern::detail::task_record;
using quern::detail::tick_count;

/// Why a piece of a task ended: so has the task; it waits; an inlined task runs in its place.
enum class piece_end : std::uint8_t { ended, suspended, covered };

/// A task begins or goes on. Of a forked child neither name nor site is known.
struct beginning {
    std::uint32_t rank = 0;
    std::uint64_t task = 0;
    std::uint64_t parent = 0;
    const char* name = nullptr;
    const void* site = nullptr;
    bool is_resumed = false;
    tick_count at = 0;
};

/// What a worker has run without interruption.
struct piece {
    std::uint32_t rank = 0;
    tick_count begin = 0;
    tick_count end = 0;
    std::uint64_t cause = 0;    ///< the task that made it ready, or 0
    tick_count ready_at = 0;    ///< when, or 0
    bool is_continued = false;  ///< the task was covered before
    piece_end how = piece_end::ended;
    const task_record& task;
};

/// A task has waited, and goes on.
struct task_wait {
    tick_count begin = 0;
    tick_count end = 0;  ///< when it was woken
    const quern::detail::wait_reason& why;
    const task_record& task;
};

class sink {
public:
    sink() = default;
    sink(const sink&) = delete;
    sink& operator=(const sink&) = delete;
    virtual ~sink() = default;

    virtual void begins(const beginning&) noexcept {}
    /// Only for sinks that measure: a piece of a task that was chosen begins now. `adjoins`: where
    /// the last one has ended.
    virtual void piece_begins(bool /*adjoins*/) noexcept {}
    virtual bool measures() const noexcept { return false; }
    virtual void piece_ends(const piece& ended) noexcept = 0;
    /// True: it wants to be told by placed() where the task waits.
    virtual bool waited(const task_wait&) noexcept { return false; }
    virtual void placed(const task_wait&, const quern::detail::call_chain&) noexcept {}
    virtual void parked(std::uint32_t /*rank*/, tick_count /*begin*/, tick_count /*end*/) noexcept {
    }
    virtual void stole(std::uint32_t /*rank*/, std::uint32_t /*victim*/,
                       tick_count /*at*/) noexcept {}
    /// A task is about to be queued; the thread may be any. Only for sinks that want it.
    virtual void made(std::uint64_t /*parent*/, const quern::detail::runnable&) noexcept {}
    virtual bool wants_made() const noexcept { return false; }
    /// Of short tasks, one in so many is enough; 0: as few as it takes to be no burden.
    virtual std::uint32_t sampling() const noexcept { return 1; }
};

}  // namespace quern::trace::detail
