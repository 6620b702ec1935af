// SPDX-License-Identifier: BSL-1.0
// The hooks of a pool, and what they need to make pieces of tasks of bare beginnings and ends. A
// tap is made when somebody attaches to a pool for the first time, and never freed: a worker may be
// late in it. It is used again for another pool.
#pragma once

#include "sampling.hpp"
#include "sink.hpp"

#include <quern/base/cache_line.hpp>
#include <quern/base/spin_lock.hpp>
#include <quern/scheduler/pool.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

namespace quern::trace::detail {

using quern::detail::pool;
using quern::detail::readiness;
using quern::detail::relaxed;
using quern::detail::worker;

class tap final : public quern::detail::hooks {
public:
    explicit tap(std::size_t lanes);

    /// Takes up a pool, or leaves it. Requires: the lock trace is held; nobody is attached.
    void take_up(pool& which) noexcept;
    void leave() noexcept;
    pool* of() const noexcept { return m_pool; }
    std::size_t lanes() const noexcept { return m_lanes.size() - 1; }

    /// From now on, or no longer, the worker's events go to the sink as well. When detach has
    /// returned, no call is going on. Requires: the lock trace is held.
    void attach(std::uint32_t rank, sink& to);
    void detach(std::uint32_t rank, sink& from) noexcept;
    bool is_idle() const noexcept { return m_attached == 0; }

    /// Beyond the workers: what threads outside do.
    std::uint32_t outside() const noexcept { return static_cast<std::uint32_t>(lanes()); }

private:
    struct alignas(quern::detail::k_cache_line) lane {
        quern::detail::spin_lock lock;
        sampling takes;  ///< without the lock
        const worker* owner = nullptr;
        bool is_continued = false;
        relaxed<bool> measures = false;  ///< a sink does
        /// May begin once more, on a larger stack.
        relaxed<const quern::detail::work*> item = nullptr;
        std::uint64_t item_id = 0;
        bool is_running = false;  ///< a piece has begun and not ended
        task_record running;      ///< whose: what is said of it
        std::uint64_t cause = 0;
        tick_count ready_at = 0;
        tick_count parked_at = 0;
        relaxed<tick_count> woken_at = 0;  ///< what goes on now was made ready; 0: it has yielded
        std::uint64_t next_id = 0;
        std::uint64_t ids_left = 0;
        std::vector<sink*> sinks;
    };
    class visit;

    static tap& of(self which) noexcept {
        return const_cast<tap&>(static_cast<const tap&>(which));  // NOLINT: made as one
    }
    void begin_piece(lane& at, task_record& task, tick_count now, const readiness& ready,
                     bool adjoins = false) noexcept;
    static void measure(lane& at, task_record& task, bool adjoins) noexcept;
    void end_piece(lane& at, std::uint32_t rank, task_record& task, tick_count now,
                   piece_end how) noexcept;
    void show_unfinished(const lane& l, std::uint32_t rank, sink& to) const noexcept;
    /// Of its present piece; when it began before anybody was attached, since somebody is.
    tick_count begin_of(const task_record& task) const noexcept {
        return std::max<tick_count>(task.trace.begun, m_since.load(std::memory_order_relaxed));
    }
    void number(lane& at, task_record& task) noexcept;
    /// Of a worker that may have come too late: the tap is another pool's by now.
    lane& lane_of(const worker& on) noexcept {
        return *m_lanes[std::min<std::size_t>(on.rank(), lanes())];
    }
    std::uint16_t weigh(worker& on) noexcept;
    std::uint16_t weigh_inlined(worker& on, const task_record& outer) noexcept;
    void pass_over(worker& on, task_record& task, quern::detail::context* resumed) noexcept;
    static void leave_out_hook(const lane& l, task_record& task) noexcept;
    static void note_running(lane& at, const task_record& task) noexcept;
    static void begin_late(lane& at, const task_record& task) noexcept;
    static void end_of_piece(self which, worker& on, task_record& task, piece_end how) noexcept;
    static bool is_long(task_record& task, tick_count now) noexcept;
    void aim(lane& at) noexcept;
    void begin_task(lane& l, worker& on, quern::detail::work& item,
                    quern::detail::context* forked_by) noexcept;
    static void tell_begins(lane& at, const beginning& begun) noexcept;
    static void on_made_ready(self, pool& home, quern::detail::runnable& item);
    static void on_begin(self, worker& on, quern::detail::work& item,
                         quern::detail::context* forked_by);
    static void on_end(self, worker& on);
    static void on_suspend(self, worker& on);
    static void on_waited(self, worker& on, const quern::detail::wait_reason& why,
                          tick_count since);
    static void on_inline_begin(self, worker& on, task_record& outer,
                                const quern::detail::runnable& item);
    static void on_inline_end(self, worker& on, task_record& outer);
    static void on_steal(self, worker& thief, worker& victim);
    static void on_park(self, worker& on);
    static void on_unpark(self, worker& on);

    pool* m_pool = nullptr;
    std::size_t m_attached = 0;
    std::atomic<tick_count> m_since{0};    ///< what was noted before is of another time
    std::atomic<unsigned> m_want_made{0};  ///< sinks that do
    std::vector<std::unique_ptr<lane>> m_lanes;
};

/// The tap of a pool. Requires: the lock trace is held.
tap& tap_of(pool& which);

/// Nobody is attached any more: the pool goes on without. Requires: the lock trace is held.
void release_if_idle(tap& one) noexcept;

}  // namespace quern::trace::detail
