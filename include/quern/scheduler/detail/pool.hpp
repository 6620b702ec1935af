// SPDX-License-Identifier: BSL-1.0
// The workers that share work, and what they share: the gate of the idle, the injector, the
// priority queues, knobs, pollers, hooks. Made and destroyed by a runtime.
#pragma once

#include <quern/base/detail/process.hpp>
#include <quern/scheduler/detail/coroutine_notes.hpp>
#include <quern/scheduler/detail/hang_watch.hpp>
#include <quern/scheduler/detail/hooks.hpp>
#include <quern/scheduler/detail/idle_gate.hpp>
#include <quern/scheduler/detail/process_registry.hpp>
#include <quern/scheduler/detail/ready_queue.hpp>
#include <quern/scheduler/detail/spare_threads.hpp>
#include <quern/scheduler/detail/timers.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/scheduler/knobs.hpp>
#include <quern/scheduler/policy.hpp>
#include <quern/scheduler/pollers.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace quern::detail {

/// A larger number is taken for a mistake.
inline constexpr std::uint32_t k_max_workers = 4096;

struct pool_description {
    std::string name = "default";
    std::uint32_t workers = 1;
    /// Processing unit of each worker, or -1 for unbound. Empty: all unbound.
    std::vector<int> processing_units{};
    /// For each worker the others in rings of growing distance. Empty: one ring.
    std::vector<std::vector<std::vector<std::uint32_t>>> victims{};
    /// The number of each worker's NUMA node. Empty: nothing is known, all count as one node.
    std::vector<unsigned> nodes{};
    const scheduling_policy* policy = nullptr;  ///< null: the default
    stack_class stacks = stack_class::medium;   ///< of tasks that do not ask for another
    hang_report_mode hang_report{};
};

class pool {
public:
    explicit pool(pool_description description);

    /// Requires: finish() has returned true, or was never called; not one of its own workers.
    ~pool();

    /// Tells the workers to end when they find nothing to do. Requires: quiet.
    void stop() noexcept;

    /// Stops, and returns when the workers have ended. False: tasks are suspended for ever, and
    /// a thread that wakes them later needs the pool, so it must not be destroyed.
    bool finish() noexcept;

    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;

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
    void make_ready_on(worker& only, context& pinned) noexcept;

    /// A task has begun whose entry is in a queue of another worker, or of the pool: the entry is
    /// empty now. When most entries of the locked queues are empty they are removed. Called on a
    /// worker of any pool. The second function: such an entry has been found.
    void entry_left_empty() noexcept;
    void empty_entry_is_gone() noexcept { m_empty_entries.fetch_sub(1, std::memory_order_relaxed); }

    /// Wakes one sleeping worker if there is one, nearest to `near` first.
    bool wake_one(std::uint32_t near) noexcept;

    /// Something has been put into the queues of `holder`: wakes it, or one who may take it.
    bool wake_for(worker& holder) noexcept;

    /// Whether there is work that every worker may take. seq_cst.
    bool has_shared_work() noexcept;

    /// How many workers may take work, 1..size(). Acts within a millisecond of a running task's
    /// end. Returns what was set. Thread safe.
    std::uint32_t set_active_workers(std::uint32_t count) noexcept;

    /// Sum over the workers. Thread safe.
    worker_totals totals() const noexcept;

    /// Whether every worker sleeps, no work is public, and nothing is outstanding that will make
    /// work; and returns when it is so. Thread safe.
    /// Protocol: src/scheduler/README.md, section "Ending".
    bool quiet() noexcept { return at_rest(false); }
    /// The same, but for timers that are set when `with_timers`, and for outstanding operations of
    /// pollers when `with_operations`.
    bool at_rest(bool with_timers, bool with_operations = false) noexcept;
    bool all_asleep() const noexcept;
    /// Whether every worker searches, sleeps or is throttled; may be out of date.
    bool all_idle() const noexcept;
    void wait_until_quiet() noexcept;
    /// The same for a time: false when it has passed.
    bool wait_until_quiet_for(std::chrono::nanoseconds time) noexcept;
    /// Items begun and contexts resumed so far.
    std::uint64_t activations() const noexcept;
    /// Suspended tasks, as contexts that are left (also below a call on a fresh stack) and as
    /// coroutines. Exact when quiet.
    std::uint64_t away() const noexcept { return contexts_away() + coroutines_away(); }
    std::uint64_t contexts_away() const noexcept;
    std::uint64_t coroutines_away() const noexcept;
    /// A coroutine, which the item will resume, begins to wait here: on a worker of this pool,
    /// or on a thread outside. Returns under which number that is noted, if it is.
    std::int32_t coroutine_leaves(const runnable& who, const coroutine_marks& marks,
                                  const wait_reason& why) noexcept;
    /// It runs again, on a worker of this pool, or resumes where it began to wait.
    void coroutine_is_back() noexcept;
    /// The first of all that were made; context::made_before() gives the next. Any thread.
    context* youngest_context() const noexcept {
        return m_youngest.load(std::memory_order_acquire);  // pairs with make_context
    }
    /// Ready tasks in queues of the policy that several workers share; what it was a moment ago.
    std::size_t queued_by_policy() const noexcept;
    std::uint32_t node_count() const noexcept { return static_cast<std::uint32_t>(m_nodes.size()); }
    hang_report_mode hang_report() const noexcept { return m_hang_report; }

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

    /// Its runtime has ended, but threads outside may still use it.
    bool is_kept() const noexcept { return m_kept.load(std::memory_order_relaxed); }
    void set_kept() noexcept { m_kept.store(true, std::memory_order_relaxed); }

    /// Whether it was made before this process was, by fork(): its workers are not here.
    bool inherited() const noexcept { return m_generation != fork_generation(); }
    /// Throws std::logic_error for an inherited pool.
    void require_not_inherited() const {
        if (inherited()) [[unlikely]] {
            refuse_inherited();
        }
    }

    std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(m_workers.size()); }
    worker& at(std::uint32_t rank) noexcept { return *m_workers[rank]; }
    const worker& at(std::uint32_t rank) const noexcept { return *m_workers[rank]; }
    const std::string& name() const noexcept { return m_name; }
    const scheduling_policy& policy() const noexcept { return *m_policy; }
    /// As the description said.
    std::optional<unsigned> numa_node_of(std::uint32_t rank) const noexcept {
        return rank < m_node_numbers.size() ? std::optional(m_node_numbers[rank]) : std::nullopt;
    }
    stack_class stacks() const noexcept { return m_stacks; }

    /// A stack that a worker had no use for, or a fresh one. Thread safe.
    context& take_context(stack_class at_least, worker_stats& stats) noexcept;
    void give_context(context& idle) noexcept;
    context& make_context(const stack_span& span, worker_stats& stats) noexcept;

    idle_gate<std_atomics> gate;
    ready_queue injector;
    ready_queue high;
    ready_queue low;
    /// The queue of items of that priority for all workers, or null for normal ones.
    ready_queue* queue_of(priority urgency) noexcept {
        return urgency == priority::high ? &high : urgency == priority::low ? &low : nullptr;
    }
    /// Whether there has ever been an item of another than normal priority, or with a rank: else no
    /// worker looks at the queues of these.
    bool has_placed() const noexcept { return m_has_placed.load(std::memory_order_relaxed); }
    /// Before such an item is put into its queue.
    void note_placed() noexcept {
        if (!has_placed()) {
            m_has_placed.store(true, std::memory_order_relaxed);
        }
    }
    detail::knobs knobs;
    poller_list pollers;
    timer_queue timers;
    /// Whether there is a timer or an outstanding operation, for one who looks often.
    bool waits_for_time() const noexcept { return timers.any() || pollers.any(); }
    /// The same exactly.
    bool needs_watch() const noexcept { return !timers.empty() || !pollers.none(); }
    coroutine_notes coroutines;
    spare_threads spares{knobs.spare_threads};
    std::atomic<const detail::hooks*> hooks{nullptr};

private:
    friend class worker;
    class visit;

    /// The workers of a NUMA node.
    struct node {
        unsigned number = 0;
        std::vector<worker*> workers;
        std::atomic<std::uint32_t> turn{0};  ///< who gets the next task that is hinted to it
    };

    void start_workers(const std::vector<int>& units);
    void release_contexts() noexcept;
    [[noreturn]] void refuse_inherited() const;
    [[noreturn]] void die_inherited() const noexcept;  ///< where nothing can be thrown
    void wire(const pool_description& description);
    void wire_victims(const pool_description& description);
    void wire_nodes();
    void arrange_victims(worker& w);
    void count_near_rings(worker& w) noexcept;
    void make_policy_queues();
    node& node_of(unsigned number) noexcept;
    worker* addressee(runnable& item) noexcept;
    /// Before an item is put into a queue; `is_timed`: it is to carry the time.
    void tell_ready(runnable& item, bool is_timed) noexcept {
        if (const detail::hooks* h = hooks.load(std::memory_order_acquire)) {
            h->made_ready(*h, *this, item);
        }
        if (is_timed && item.ready.at == 0) {
            item.ready.at = ticks();
        }
    }
    worker& next_for_ranked() noexcept;
    QUERN_COLD void make_ready_slowly(runnable& item, worker* here, bool is_timed) noexcept;
    void deliver(runnable& item, worker* to) noexcept;
    worker* take_place_of_sleeper() noexcept;
    template <class F>
    void for_each_list(F call) noexcept;
    void notify_quiet(std::uint32_t sleeping) noexcept;
    void wake_all() noexcept;
    void wake_throttled() noexcept;

    std::string m_name;
    const scheduling_policy* m_policy;
    stack_class m_stacks;
    hang_report_mode m_hang_report;
    pool* m_communication = nullptr;
    bool m_orders_communication = false;
    std::atomic<bool> m_stop{false};
    std::atomic<bool> m_has_placed{false};
    std::atomic<std::uint32_t> m_ranked_turn{0};  ///< who gets the next one from outside
    const unsigned m_generation = fork_generation();
    sigset_t m_outside_signals{};  ///< blocked in the thread that made the pool
    /// Whether a worker may keep items for itself: others can take them over, or there are none.
    const bool m_has_barrier;
    bool m_ended = false;  ///< the workers' threads have ended
    std::atomic<bool> m_kept{false};
    std::atomic<std::ptrdiff_t> m_empty_entries{0};
    std::atomic<std::uint32_t> m_injecting{0};  ///< threads inside inject() and its like
    std::atomic<bool> m_quiet_wanted{false};
    sampling_turn m_timed;  ///< of what threads outside make ready
    std::atomic<std::uint32_t> m_quiet_word{0};
    std::atomic<worker*> m_watch{nullptr};            ///< the sleeper that looks after the time
    std::atomic<std::uint32_t> m_throttled{0};        ///< workers that sleep for the knob
    std::atomic<std::uint64_t> m_coroutines_away{0};  ///< that threads outside have left
    std::atomic<std::uint32_t> m_throttle_word{0};    ///< changes when the knob does
    spin_lock m_contexts_lock;
    /// Idle ones, the last one the warmest. Linked through themselves: to give a stack back must
    /// need no memory.
    intrusive_list<context> m_contexts[k_stack_class_count];
    std::atomic<context*> m_youngest{nullptr};
    std::vector<unsigned> m_node_numbers;        ///< of each worker, or empty
    std::vector<std::unique_ptr<node>> m_nodes;  ///< in the order of their first workers
    std::unique_ptr<policy_queues> m_policy_queues;
    std::vector<std::unique_ptr<worker>> m_workers;
    std::optional<pool_entry>
        m_entry;  ///< in the process registry, from the first worker to the end
};

}  // namespace quern::detail
