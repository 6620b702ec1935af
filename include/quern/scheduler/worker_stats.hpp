// SPDX-License-Identifier: BSL-1.0
// What one worker counts. Single writer (the worker), any reader; no read-modify-write. Counts are
// relaxed, times under a sequence lock. A worker reads the clock where it begins and ceases to be
// idle. The time between is tasks and the runtime's own work; overhead_clock tells the two apart.
// So the times always add up to the time since the worker started; total_ns() leaves out the time
// in which the knob active-workers kept it from working.
#pragma once

#include <quern/base/detail/cache_line.hpp>
#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/config.hpp>
#include <quern/scheduler/detail/overhead_clock.hpp>

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace quern {

/// What a worker is doing: user code, the scheduler's own work, or nothing for want of work.
enum class worker_phase : std::uint8_t { running, managing, idle };

/// Totals of one worker or of several; times in nanoseconds, everything since the pool began.
struct worker_totals {
    double running_ns = 0;          ///< in task bodies
    double managing_ns = 0;         ///< making, queueing, beginning, switching, settling tasks
    double making_ns = 0;           ///< of that, making tasks
    double idle_ns = 0;             ///< searching or parked for want of work
    double asleep_ns = 0;           ///< of that, parked
    double throttled_ns = 0;        ///< kept from work by the knob active-workers; no other part
    double guest_ns = 0;            ///< when a thread from outside had its place
    std::uint64_t tasks = 0;        ///< ready tasks and stolen entries run to their end
    std::uint64_t inlined = 0;      ///< of these, run in the place of one who waited for it
    std::uint64_t activations = 0;  ///< times a task was started or resumed
    std::uint64_t suspensions = 0;  ///< times a task gave up its worker
    std::uint64_t stolen = 0;       ///< items taken from another worker
    std::uint64_t parks = 0;        ///< times the worker went to sleep
    std::uint64_t wakes = 0;        ///< sleepers this worker woke
    std::uint64_t contexts_recycled = 0;  ///< stacks used again
    std::uint64_t contexts_made = 0;      ///< stacks taken from the system
    std::uint64_t looks = 0;              ///< times the worker looked into its queues
    std::uint64_t misses = 0;             ///< of these, times there was nothing
    std::uint64_t waits = 0;              ///< queued items that were timed: one in so many
    double waited_ns = 0;                 ///< from when these were ready to when they ran
    std::uint64_t first_waits = 0;        ///< of these, tasks that had not yet begun
    double first_waited_ns = 0;
    /// Parallel work that makes no tasks. A fork_join that no other worker takes part in is a call,
    /// which nothing counts.
    std::uint64_t loops = 0;         ///< parallel loops and algorithms that began on the worker
    std::uint64_t chunks = 0;        ///< pieces of loops that it ran
    std::uint64_t scopes = 0;        ///< scopes that began on the worker
    std::uint64_t stolen_forks = 0;  ///< of `tasks`, forked children of other workers

    worker_totals& operator+=(const worker_totals& other) noexcept;
    /// What came after `earlier`.
    worker_totals& operator-=(const worker_totals& earlier) noexcept;
    /// The time of the worker, without what it was throttled.
    double total_ns() const noexcept { return running_ns + managing_ns + idle_ns; }
};

}  // namespace quern

namespace quern::detail {

/// Whose turn it is to be timed: the first, and then one in so many. A clock reading takes as long
/// as half a tiny task. Threads that share one may count a little wrong.
class sampling_turn {
public:
    bool comes() noexcept {
        if constexpr (!k_counters) {
            return false;
        }
        const std::uint32_t left = m_left.load(std::memory_order_relaxed);
        m_left.store(left != 0 ? left - 1 : k_interval - 1, std::memory_order_relaxed);
        return left == 0;
    }

private:
    static constexpr std::uint32_t k_interval = 67;  // prime: not in step with a program's pattern
    std::atomic<std::uint32_t> m_left{0};
};

/// A counter that one thread writes and any may read.
class single_writer_counter {
public:
    using order = std::memory_order;

    void add(std::uint64_t n = 1, order how = order::relaxed) noexcept {
        m_value.store(m_value.load(order::relaxed) + n, how);
    }
    /// For what was counted too early.
    void take_back() noexcept { m_value.store(m_value.load(order::relaxed) - 1, order::relaxed); }
    std::uint64_t value(order how = order::relaxed) const noexcept { return m_value.load(how); }

private:
    std::atomic<std::uint64_t> m_value{0};
};

/// In its place where counters are left out.
class no_counter {
public:
    void add(std::uint64_t = 1) noexcept {}
    std::uint64_t value() const noexcept { return 0; }
};

using statistic = std::conditional_t<k_counters, single_writer_counter, no_counter>;

class alignas(k_cache_line) worker_stats {
public:
    /// Starts the clock. Called by the worker before anything else.
    void begin() noexcept { m_since.store(ticks(), std::memory_order_relaxed); }
    /// It has started, and goes to its loop.
    void begun() noexcept { book(use::busy); }

    /// It has nothing to do; and has something again. Requires: called in turns.
    void begin_idle() noexcept { pause(use::idle); }
    void end_idle() noexcept {
        is_now(worker_phase::managing);
        book(use::busy);
        overhead.resumes(m_interrupted);
    }

    /// The knob active-workers keeps it from working; and does no longer. This is no want of work.
    /// Requires: called in turns.
    void begin_throttled() noexcept { pause(use::throttled); }
    void end_throttled() noexcept { end_idle(); }

    /// Its thread sleeps for want of work. Requires: idle; called in turns.
    void begin_sleep() noexcept {
        m_asleep_since.store(k_counters ? ticks() : 0, std::memory_order_relaxed);
    }
    void end_sleep() noexcept {
        if constexpr (k_counters) {
            const tick_count since = m_asleep_since.load(std::memory_order_relaxed);
            m_asleep.add(ticks() - since, std::memory_order_release);
            m_asleep_since.store(0, std::memory_order_release);  // both pair with read
        }
    }

    /// A thread from outside has its place; and has left it. Requires: asleep; called in turns.
    void begin_guest() noexcept {
        end_sleep();
        end_idle();
        m_guest_since = since();
    }
    void end_guest() noexcept {
        begin_idle();
        m_guest.add(since() - m_guest_since);
        begin_sleep();
    }

    /// Takes the time, for who asks for since().
    void look() noexcept { book(m_use.load(std::memory_order_relaxed)); }

    /// The time when the worker last took it. The worker itself.
    tick_count since() const noexcept {
        return k_counters ? m_since.load(std::memory_order_relaxed) : ticks();
    }

    /// Ticks without work up to `now`. Any thread.
    tick_count idle_ticks(tick_count now) const noexcept;

    /// For reports: no clock reading.
    void is_now(worker_phase what) noexcept { m_phase.store(what, std::memory_order_relaxed); }

    /// What the worker does now. Any thread; late by what a relaxed load may be.
    worker_phase phase() const noexcept { return m_phase.load(std::memory_order_relaxed); }

    /// While it lives the worker calls the kernel for the runtime: overhead that is always timed.
    class kernel_call {
    public:
        explicit kernel_call(worker_stats& of) noexcept : m_of(of) {
            if constexpr (k_counters) {
                m_begun = ticks();
            }
        }
        kernel_call(const kernel_call&) = delete;
        kernel_call& operator=(const kernel_call&) = delete;
        ~kernel_call() {
            if (k_counters && m_of.m_use.load(std::memory_order_relaxed) == use::busy) {
                m_of.overhead.add(ticks() - m_begun);
            }
        }

    private:
        worker_stats& m_of;
        tick_count m_begun = 0;
    };

    /// An item that was ready since then has left its queue.
    void waited(tick_count ready_at, tick_count now, bool is_first) noexcept {
        const tick_count time = now > ready_at ? now - ready_at : 0;  // clocks of two cores
        waits.add();
        m_waited.add(time);
        if (is_first) {
            first_waits.add();
            m_first_waited.add(time);
        }
    }

    /// As of now. Any thread. Two readings in turn may book the last few microseconds to different
    /// parts.
    worker_totals read() const noexcept;

    overhead_clock overhead;
    single_writer_counter activations;  ///< the end of a pool relies on it; without the inlined
    statistic tasks;                    ///< without the inlined
    statistic inlined;
    statistic suspensions, stolen, parks, wakes;
    statistic contexts_recycled, contexts_made, looks, misses, waits, first_waits;
    statistic loops, chunks, scopes, stolen_forks;

private:
    /// What time is booked to: the start of the worker, tasks and the work around them, nothing,
    /// the knob active-workers.
    enum class use : std::uint8_t { starting, busy, idle, throttled };
    static constexpr int k_uses = 4;

    void pause(use why) noexcept {
        is_now(worker_phase::idle);
        m_interrupted = overhead.ends(overhead_clock::next::own_work);
        book(why);
    }
    double asleep() const noexcept;
    double never_less(double running, double busy) const noexcept;

    /// Books the time since the last call. One clock reading. A sequence lock: a reader that sees
    /// one of the changes also sees that the version is odd or newer (release here, acquire in
    /// read).
    void book(use next) noexcept {
        constexpr auto k_release = std::memory_order_release;
        if constexpr (!k_counters) {
            return;
        }
        const std::uint32_t version = m_version.load(std::memory_order_relaxed);
        m_version.store(version + 1, std::memory_order_relaxed);  // odd: being changed
        const tick_count now = ticks();
        m_ticks[static_cast<int>(m_use.load(std::memory_order_relaxed))].add(
            now - m_since.load(std::memory_order_relaxed), k_release);
        m_since.store(now, k_release);
        m_use.store(next, k_release);
        m_version.store(version + 2, k_release);
    }

    std::atomic<std::uint32_t> m_version{0};
    std::atomic<use> m_use{use::starting};
    std::atomic<worker_phase> m_phase{worker_phase::managing};
    std::uint32_t m_interrupted = 0;  ///< for how many the stretch stands that idleness interrupts
    std::atomic<tick_count> m_since{0};
    single_writer_counter m_ticks[k_uses];  ///< by use
    mutable std::atomic<double> m_told{0};  ///< the most ticks in bodies that a reader was told
    std::atomic<tick_count> m_asleep_since{0};
    single_writer_counter m_asleep;      ///< ticks
    statistic m_waited, m_first_waited;  ///< ticks
    statistic m_guest;                   ///< ticks
    tick_count m_guest_since = 0;
};

}  // namespace quern::detail
