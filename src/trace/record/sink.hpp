// SPDX-License-Identifier: BSL-1.0
// Interface to the attached sinks, which receive the pieces of tasks that workers run. pool_hooks
// calls it on the workers, under a lock, one call at a time per worker. A sink must not block,
// throw or call anything of this layer.
#pragma once

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/symbols.hpp>
#include <quern/scheduler/detail/context.hpp>
#include <quern/trace/events.hpp>

#include <cstdint>

namespace quern::trace::detail {

using quern::detail::task_record;
using quern::detail::tick_count;

/// Why a piece of a task ended: the task ended; it waits; an inlined task runs in its place.
enum class piece_end : std::uint8_t { ended, suspended, covered };

/// A task begins or resumes. The name and site of a forked child are unknown.
struct beginning {
    std::uint32_t rank = 0;
    std::uint64_t task = 0;
    std::uint64_t parent = 0;
    const char* name = nullptr;
    const void* site = nullptr;
    bool is_resumed = false;
    tick_count at = 0;
};

/// A part of a task that a worker has run without interruption.
struct piece {
    std::uint32_t rank = 0;
    tick_count begin = 0;
    tick_count end = 0;
    std::uint64_t cause = 0;    ///< the task that made it ready, or 0
    tick_count ready_at = 0;    ///< when it became ready, or 0
    bool is_continued = false;  ///< the previous piece ended as `covered`
    piece_end how = piece_end::ended;
    const task_record& task;
};

/// A task has waited and resumes.
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
    /// Only for sinks that measure: a piece of a sampled task begins now. `adjoins`: it begins
    /// where the previous piece ended.
    virtual void piece_begins(bool /*adjoins*/) noexcept {}
    virtual bool measures() const noexcept { return false; }
    virtual void piece_ends(const piece& ended) noexcept = 0;
    /// True: the sink wants a call of placed(), which tells where the task waits.
    virtual bool waited(const task_wait&) noexcept { return false; }
    virtual void placed(const task_wait&, const quern::detail::call_chain&) noexcept {}
    virtual void parks(std::uint32_t /*rank*/, tick_count /*at*/) noexcept {}
    virtual void parked(std::uint32_t /*rank*/, tick_count /*begin*/, tick_count /*end*/) noexcept {
    }
    virtual void stole(std::uint32_t /*rank*/, std::uint32_t /*victim*/,
                       tick_count /*at*/) noexcept {}
    virtual void passed(const message_info&, std::uint64_t /*task*/, tick_count /*at*/) noexcept {}
    /// Sampling interval of short tasks: one in n is enough. 0: sample so few that the cost is
    /// small.
    virtual std::uint32_t sampling() const noexcept { return 1; }
};

}  // namespace quern::trace::detail
