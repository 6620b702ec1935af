// SPDX-License-Identifier: BSL-1.0
// The hooks of a pool, and the state from which they build pieces of tasks out of begin and end
// events. A pool_hooks is made when the first sink attaches to a pool. It is not freed before the
// process ends, because a late worker may still be inside. It is reused for another pool.
#pragma once

#include "record/sampling.hpp"
#include "record/sink.hpp"

#include <quern/base/detail/cache_line.hpp>
#include <quern/base/detail/spin_lock.hpp>
#include <quern/scheduler/detail/pool.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

namespace quern::trace::detail {

using quern::detail::pool;
using quern::detail::readiness;
using quern::detail::relaxed;
using quern::detail::worker;

class pool_hooks final : public quern::detail::hooks {
public:
    explicit pool_hooks(std::size_t lanes);

    /// Binds to a pool, or unbinds. Requires: the lock trace is held; no sink is attached.
    void take_up(pool& which) noexcept;
    void leave() noexcept;
    pool* of() const noexcept { return m_pool; }
    std::size_t lanes() const noexcept { return m_lanes.size() - 1; }

    /// Starts or stops sending the worker's events to the sink too. After detach returns, no call
    /// of the sink is in progress. Requires: the lock trace is held.
    void attach(std::uint32_t rank, sink& to);
    void detach(std::uint32_t rank, sink& from) noexcept;
    bool is_idle() const noexcept { return m_attached == 0; }

    /// A message of a task on that worker, to the sinks of the worker. Called by the worker.
    static void pass(worker& on, const message_info& what, std::uint64_t task,
                     tick_count at) noexcept;

private:
    struct alignas(quern::detail::k_cache_line) lane {
        quern::detail::spin_lock lock;
        sampling takes;  ///< used without the lock
        const quern::detail::worker_status* owner = nullptr;
        bool is_continued = false;
        relaxed<bool> measures = false;  ///< a sink measures
        /// The running item. It may begin a second time, on a larger stack.
        relaxed<const quern::detail::work*> item = nullptr;
        std::uint64_t item_id = 0;
        bool is_running = false;  ///< a piece has begun and not ended
        task_record running;      ///< description of the task of that piece
        std::uint64_t cause = 0;
        tick_count ready_at = 0;
        tick_count parked_at = 0;
        relaxed<tick_count> woken_at = 0;  ///< when the resumed task became ready; 0: it yielded
        std::uint64_t next_id = 0;
        std::uint64_t ids_left = 0;
        std::vector<sink*> sinks;
    };
    class visit;

    static pool_hooks& of(self which) noexcept {
        return const_cast<pool_hooks&>(
            static_cast<const pool_hooks&>(which));  // NOLINT: made as one
    }
    void begin_piece(lane& at, task_record& task, tick_count now, const readiness& ready,
                     bool adjoins = false) noexcept;
    static void measure(lane& at, task_record& task, bool adjoins) noexcept;
    void end_piece(lane& at, std::uint32_t rank, task_record& task, tick_count now,
                   piece_end how) noexcept;
    void show_unfinished(const lane& l, std::uint32_t rank, sink& to) const noexcept;
    /// Begin of the task's present piece, but not before the first sink was attached.
    tick_count begin_of(const task_record& task) const noexcept {
        return std::max<tick_count>(task.trace.begun, m_since.load(std::memory_order_relaxed));
    }
    void number(lane& at, task_record& task) noexcept;
    /// A late worker may arrive when these hooks already serve another pool with fewer lanes.
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
    static void on_steal(self, worker& thief, quern::detail::worker_shared& victim);
    static void on_park(self, worker& on);
    static void on_unpark(self, worker& on);

    pool* m_pool = nullptr;
    std::size_t m_attached = 0;
    std::atomic<tick_count> m_since{0};          ///< notes of earlier times are stale
    std::vector<std::unique_ptr<lane>> m_lanes;  ///< the last lane: threads that are not workers
};

/// The pool hooks of a pool. Requires: the lock trace is held.
pool_hooks& hooks_of(pool& which);

/// Takes the hooks from the pool if no sink is attached any more. Requires: the lock trace is held.
void release_if_idle(pool_hooks& one) noexcept;

}  // namespace quern::trace::detail
