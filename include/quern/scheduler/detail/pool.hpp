// SPDX-License-Identifier: BSL-1.0
// The workers that share work: how items come to them, from tasks and from threads outside, and how
// they begin and end. What they share is in pool_shared. Made and destroyed by a runtime.
#pragma once

#include <quern/scheduler/detail/pool_shared.hpp>
#include <quern/scheduler/detail/process_registry.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quern::detail {

class pool final : public pool_shared {
public:
    explicit pool(pool_description description);

    /// Requires: finish() has returned true, or was never called; not one of its own workers.
    ~pool();

    /// Tells the workers to end when they find nothing to do. Requires: quiet.
    void stop() noexcept;

    /// Stops, and returns when the workers have ended. False: tasks are suspended for ever, and
    /// a thread that wakes them later needs the pool, so it must not be destroyed.
    bool finish() noexcept;

    /// Makes an item ready from a thread that is no worker of this pool. Thread safe.
    void inject(runnable& item) noexcept;

    /// The calling thread, which is no worker, takes the place of a worker that sleeps, and runs
    /// the item until it has ended or suspends; then it leaves. So no thread is woken for it.
    /// False: no worker sleeps; nothing has been done. Thread safe. Protocol:
    /// src/scheduler/README.md, section "Guests".
    bool run_as_guest(runnable& item) noexcept;

    /// Makes an item ready: on the calling worker when it is one of this pool. Thread safe.
    void make_ready(runnable& item) noexcept;

    /// The same for all of a batch, which is empty then: one look at who sleeps, one wake-up.
    void make_ready(ready_batch& items) noexcept;

    /// The same at the end of what a worker runs: if it is one of this pool, it takes the first
    /// item itself, without a queue.
    void continue_with(ready_batch& items) noexcept;

    /// Makes a context ready that only this worker may resume, and wakes the worker, also if it is
    /// throttled. Thread safe.
    void make_ready_on(worker_shared& only, context& pinned) noexcept;

    /// A task has begun whose entry is in a queue of another worker, or of the pool: the entry is
    /// empty now. When most entries of the locked queues are empty they are removed. Called on a
    /// worker of any pool. The second function: such an entry has been found.
    void entry_left_empty() noexcept;
    void empty_entry_is_gone() noexcept { m_empty_entries.fetch_sub(1, std::memory_order_relaxed); }

    /// How many workers may take work, 1..size(). Acts within a millisecond of a running task's
    /// end. Returns what was set. Thread safe.
    std::uint32_t set_active_workers(std::uint32_t count) noexcept;

    /// Whether every worker sleeps, no work is public, and nothing is outstanding that will make
    /// work; and returns when it is so. Thread safe.
    /// Protocol: src/scheduler/README.md, section "Ending".
    bool quiet() noexcept { return at_rest(false); }
    /// The same, but for timers that are set when `with_timers`, and for outstanding operations of
    /// pollers when `with_operations`.
    bool at_rest(bool with_timers, bool with_operations = false) noexcept;
    void wait_until_quiet() noexcept;
    /// The same for a time: false when it has passed.
    bool wait_until_quiet_for(std::chrono::nanoseconds time) noexcept;
    std::uint32_t node_count() const noexcept { return static_cast<std::uint32_t>(m_nodes.size()); }

    // -- tasks that pass messages (communication.hpp) ----------------------------------------

    /// Before the pool has tasks. `by`: runs those of this pool's tasks; null: this pool does.
    void set_communication(pool* by, bool is_ordered) noexcept {
        m_communication = by;
        m_orders_communication = is_ordered;
    }
    pool& communication_pool() noexcept {
        return m_communication != nullptr ? *m_communication : *this;
    }
    /// Whether it has been made only for such tasks.
    bool is_for_communication() const noexcept { return m_communication == this; }
    bool orders_communication() const noexcept { return m_orders_communication; }
    /// Makes such a task ready. In a pool for such tasks it runs behind all that are ready there.
    void make_communication_ready(runnable& item) noexcept;

    /// Operations begin at a poller of this pool at which none may be outstanding. Until they have
    /// ended the pool is not quiet. Thread safe.
    void arm(poller& one, std::uint64_t operations) noexcept;

    /// The timer fires on a worker of this pool as soon as one is between two items after that
    /// time. Until then the pool is not quiet. A task that does not wait afterwards must wake a
    /// sleeper itself, or no worker keeps watch while it runs. Thread safe.
    void set_timer(timer& t, timer::clock::time_point due) noexcept;

    void set_kept() noexcept { keep(); }

    /// What was blocked in the thread that made the pool.
    const sigset_t& outside_signals() const noexcept { return m_outside_signals; }

    /// Before an item is put into a queue; `is_timed`: it is to carry the time.
    void tell_ready(runnable& item, bool is_timed) noexcept {
        if (const detail::hooks* h = hooks()) {
            h->made_ready(*h, *this, item);
        }
        if (is_timed && item.ready.at == 0) {
            item.ready.at = ticks();
        }
    }

private:
    class visit;

    /// The workers of a NUMA node.
    struct node {
        unsigned number = 0;
        std::vector<worker_shared*> workers;
        std::atomic<std::uint32_t> turn{0};  ///< who gets the next task that is hinted to it
    };

    void start_workers(const std::vector<int>& units);
    void wire(const pool_description& description);
    void wire_victims(const pool_description& description);
    void wire_nodes();
    void arrange_victims(worker& w);
    void make_policy_queues();
    node& node_of(unsigned number) noexcept;
    worker_shared* addressee(runnable& item) noexcept;
    worker_shared& next_for_ranked() noexcept;
    QUERN_COLD void make_ready_slowly(runnable& item, worker* here, bool is_timed) noexcept;
    void deliver(runnable& item, worker_shared* to) noexcept;
    worker* take_place_of_sleeper() noexcept;
    template <class F>
    void for_each_list(F call) noexcept;

    pool* m_communication = nullptr;
    bool m_orders_communication = false;
    std::atomic<std::uint32_t> m_ranked_turn{0};  ///< who gets the next one from outside
    sigset_t m_outside_signals{};                 ///< blocked in the thread that made the pool
    bool m_ended = false;                         ///< the workers' threads have ended
    std::atomic<std::ptrdiff_t> m_empty_entries{0};
    std::atomic<std::uint32_t> m_injecting{0};   ///< threads inside inject() and its like
    sampling_turn m_timed;                       ///< of what threads outside make ready
    std::vector<std::unique_ptr<node>> m_nodes;  ///< in the order of their first workers
    std::optional<pool_entry>
        m_entry;  ///< in the process registry, from the first worker to the end
};

}  // namespace quern::detail
