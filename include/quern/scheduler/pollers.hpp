// SPDX-License-Identifier: BSL-1.0
// How a layer above asks a foreign system (messages, devices, files) whether operations that tasks
// wait for have ended. With nothing outstanding a poller costs nothing; else workers call it at
// timed intervals. Protocol: src/scheduler/README.md, section "Pollers"; its count is explored in
// tests/model/pollers_test.cpp.
#pragma once

#include <quern/base/detail/atomics.hpp>
#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/spin_lock.hpp>
#include <quern/base/detail/unique_function.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

class pool_ref;

namespace detail {

class pool;
class poller_list;

/// The operations outstanding at one poller. `armed` is a word of its pool: an upper bound of the
/// number of pollers with outstanding operations.
/// Invariant: armed is not less than that number.
template <class Atomics>
class outstanding_count {
public:
    using word = typename Atomics::template atomic<std::uint64_t>;

    /// acquire: pairs with both raises, so that a reader sees what was done before an operation
    /// began.
    std::uint64_t value() const noexcept { return m_count.load(std::memory_order_acquire); }

    /// Raises a count that is not 0, without touching the pool's word. False: it is 0.
    bool raise_further(std::uint64_t by) noexcept {
        std::uint64_t seen = m_count.load(std::memory_order_relaxed);
        while (seen != 0) {
            // seq_cst: the word was raised so before this count.
            if (m_count.compare_exchange_strong(seen, seen + by, std::memory_order_seq_cst,
                                                std::memory_order_relaxed)) {
                return true;
            }
        }
        return false;
    }

    /// The same for a count that may be 0. True: nothing was outstanding in the pool before, so the
    /// caller must make sure that a worker polls.
    bool raise(word& armed, std::uint64_t by) noexcept {
        // seq_cst: afterwards the caller reads the watch and the gate (pool::arm).
        const bool is_first = armed.fetch_add(1, std::memory_order_seq_cst) == 0;
        if (m_count.fetch_add(by, std::memory_order_seq_cst) != 0) {
            armed.fetch_sub(1, std::memory_order_seq_cst);  // another thread was faster
        }
        return is_first;
    }

    /// Returns the previous value. After this the pool may be destroyed.
    std::uint64_t lower(word& armed, std::uint64_t by) noexcept {
        const std::uint64_t before = m_count.fetch_sub(by, std::memory_order_seq_cst);
        if (before == by) {
            // seq_cst: everything that the operations made ready is public before this
            // (pool::at_rest).
            armed.fetch_sub(1, std::memory_order_seq_cst);
        }
        return before;
    }

private:
    typename Atomics::template atomic<std::uint64_t> m_count{0};
};

}  // namespace detail

/// Result of a poller's function: progress if an operation has ended or a message has arrived; soon
/// if not, but it should be called after the shortest interval, since others wait for the call.
enum class poll_result : std::uint8_t { idle, soon, progress };

struct poller_options {
    std::string name;  ///< in reports
    /// Asks the foreign system, resumes tasks or makes results ready, and settles ended operations.
    /// Called by one worker at a time, between two tasks. Must not block, suspend, throw, or make
    /// or destroy a poller.
    detail::unique_function<poll_result()> ask;
    /// Describes the outstanding operations for hang reports. May be empty. The same rules hold;
    /// called by any thread, but never while `ask` runs.
    detail::unique_function<std::string()> tell{};
    /// For this long after an operation has begun or the function has reported progress, a worker
    /// that finds no task calls it without pause, for answers that come within microseconds. Other
    /// threads that want the processor get it between two calls. 0: at intervals only.
    std::chrono::microseconds eager{0};
};

/// A function that the workers of a pool call at intervals while operations are outstanding. Call
/// expect() when an operation begins and settle() when it ends; the poller itself or any thread may
/// do so. While nothing is outstanding the function is not called, idle workers sleep undisturbed,
/// and each task costs a worker one relaxed load. Otherwise a worker calls it between two tasks, or
/// one of the sleeping workers calls it when it is due: after a sixteenth of the time since an
/// operation has begun or the function has reported progress, at least 20 us, at most 50 us between
/// tasks and 1 ms while workers sleep. Where the function returns `soon`, it is after 20 us. All
/// pollers of a pool share that interval. An eager poller is called more often while a worker has
/// nothing else to do.
///
/// Outstanding operations keep their runtime alive: its destructor waits for them. A hang report
/// lists them (docs/hang-reports.md). The poller may outlive its runtime. Destroying it earlier
/// abandons outstanding operations.
///
///     std::atomic<bool> has_come{false};  // set by a foreign system
///     quern::promise<int> answer;
///     quern::poller mail(quern::current_pool(), {.name = "mail", .ask = [&] {
///         if (!has_come.exchange(false)) {
///             return quern::poll_result::idle;
///         }
///         answer.set_value(42);
///         mail.settle();  // last: until then the runtime does not end
///         return quern::poll_result::progress;
///     }});
///     mail.expect();  // first: then tell the foreign system
///     int got = answer.get_future().get();
///
/// Thread safety: any thread may call expect, settle and outstanding at any time. Cost of expect
/// and settle: an atomic addition while other operations are outstanding. The first one changes a
/// word that all workers read, and wakes a worker if all others sleep.
class poller {
public:
    /// Throws std::invalid_argument without a name or a function to ask, and std::logic_error in
    /// the child of a fork() for a pool of the parent.
    poller(const pool_ref& where, poller_options how);
    /// After it has returned, the poller's functions do not run. They must not call it.
    ~poller();
    poller(const poller&) = delete;
    poller& operator=(const poller&) = delete;

    /// Adds outstanding operations. Call it before they can end. The `ask` function sees what the
    /// caller did before. Requires: the runtime has not ended.
    void expect(std::uint64_t operations = 1) noexcept;

    /// Removes ended operations. Call it after the tasks that wait for them have been resumed.
    /// Requires: they were outstanding.
    void settle(std::uint64_t operations = 1) noexcept;

    std::uint64_t outstanding() const noexcept { return m_count.value(); }
    const std::string& name() const noexcept { return m_how.name; }

private:
    friend class detail::poller_list;

    poller_options m_how;
    detail::outstanding_count<detail::std_atomics> m_count;
    std::atomic<detail::tick_count> m_moved{0};  ///< time of arming or of the last progress
    detail::tick_count m_eager = 0;              ///< poller_options::eager
    std::atomic<detail::pool*> m_pool{nullptr};  ///< null: it has ended; under the lock `pollers`
};

namespace detail {

/// A poller with outstanding operations, as a report shows it.
struct seen_poller {
    std::string name;
    std::uint64_t outstanding = 0;  ///< 0: its function runs and has not returned
    double seconds = 0;             ///< without progress
    std::string words{};            ///< from its `tell` function
};

/// The pollers of a pool, and their interval.
class poller_list {
public:
    poller_list() = default;
    /// Tells the remaining pollers that their pool has ended.
    ~poller_list();
    poller_list(const poller_list&) = delete;
    poller_list& operator=(const poller_list&) = delete;

    void add(poller& one, pool& home);
    static void remove(poller& one) noexcept;

    /// Whether any operation is outstanding: none() is exact, any() is for frequent checks.
    bool none() const noexcept { return m_armed.load(std::memory_order_seq_cst) == 0; }
    bool any() const noexcept { return m_armed.load(std::memory_order_relaxed) != 0; }

    /// Whether a worker should call ask() between two tasks. Takes no lock.
    bool is_due(tick_count now) const noexcept {
        return now >= m_due.load(std::memory_order_relaxed);
    }
    /// How long the watch may sleep, if other workers search for tasks or not: one that does asks
    /// eager pollers without pause. Requires: any().
    std::chrono::nanoseconds until_due(bool others_search) const noexcept;

    /// Whether a worker that finds no task should ask without pause.
    bool is_eager(tick_count now) const noexcept {
        return any() && now < m_eager_until.load(std::memory_order_relaxed);
    }
    /// An operation has begun, or there was progress, at a poller that is eager for so long.
    void has_moved(tick_count now, tick_count eager) noexcept {
        m_moved.store(now, std::memory_order_relaxed);
        if (eager != 0) {
            m_eager_until.store(now + eager, std::memory_order_relaxed);
        }
    }

    /// Raises the count of a poller. True: nothing was outstanding before.
    bool arm(poller& one, std::uint64_t operations) noexcept;

    /// Counts as one more outstanding operation: the pool is not quiet.
    void hold() noexcept { m_armed.fetch_add(1, std::memory_order_seq_cst); }
    void let_go() noexcept { m_armed.fetch_sub(1, std::memory_order_seq_cst); }

    /// Calls every poller with outstanding operations, unless another worker is doing so.
    void ask() noexcept;

    std::uint64_t progress() const noexcept { return m_progress.load(std::memory_order_relaxed); }

    /// Whether a poller of another name has outstanding operations, or one is being asked for long.
    bool any_but(std::string_view name);

    /// The pollers with outstanding operations. Waits a little for a poller whose function runs.
    std::vector<seen_poller> outstanding();

private:
    friend class quern::poller;

    outstanding_count<std_atomics>::word m_armed{0};
    std::atomic<tick_count> m_due{0};        ///< between two tasks
    std::atomic<tick_count> m_watch_due{0};  ///< while all workers sleep
    std::atomic<tick_count> m_moved{0};      ///< the last beginning or progress of any poller
    std::atomic<tick_count> m_eager_until{0};
    std::atomic<std::uint64_t> m_progress{0};
    std::atomic<const char*> m_asked{nullptr};  ///< name of the poller whose function runs
    spin_lock m_lock;                           ///< held while asking, to exclude other callers
    std::vector<poller*> m_pollers;
};

}  // namespace detail
}  // namespace quern
