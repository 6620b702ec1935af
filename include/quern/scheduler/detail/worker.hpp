// SPDX-License-Identifier: BSL-1.0
// One OS thread of a pool and what it owns: queues, stealable contexts, spare stacks, statistics.
// Its loop, in src/scheduler/loop.cpp, is the whole life of a worker and the place to begin
// reading.
#pragma once

#include <quern/base/detail/relaxed.hpp>
#include <quern/base/detail/rng.hpp>
#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/idle_gate.hpp>
#include <quern/scheduler/detail/ranked_queue.hpp>
#include <quern/scheduler/detail/ready_batch.hpp>
#include <quern/scheduler/detail/ready_deque.hpp>
#include <quern/scheduler/detail/ready_queue.hpp>
#include <quern/scheduler/detail/site_counts.hpp>
#include <quern/scheduler/detail/yield_budget.hpp>
#include <quern/scheduler/policy.hpp>
#include <quern/scheduler/worker_stats.hpp>

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <vector>

namespace quern::detail {

class pool;

/// Contexts that are not running but hold public fork entries: suspended ones, and those below a
/// call on a fresh stack. Thieves look here after the running context.
class stealable_contexts {
public:
    void put(context& c) noexcept;
    static void take(
        context& c) noexcept;  ///< from whichever stealable contexts it stands on, if any
    /// `from`: the context that held it, when there is one.
    fork_entry* steal(context*& from) noexcept;
    bool has_public() noexcept;

private:
    void remove(context& c) noexcept;

    spin_lock m_lock;
    intrusive_list<context> m_contexts;
    std::atomic<std::uint32_t> m_count{0};
};

/// The queues that a worker has under every scheduling policy; others belong to the policy.
struct worker_queues {
    ready_deque<std_atomics, runnable> deque;  ///< where the policy has no queues of its own
    ready_queue inbox;    ///< pushed by others; everything under nemesis and static
    ready_queue pinned;   ///< contexts that only this worker may resume
    ranked_queue ranked;  ///< items with a rank that any worker may take, under every policy
    ranked_queue hinted;  ///< of another rank or priority than what is in the inbox
};

/// What a worker counts as in its pool's gate while it asks pollers.
enum class idle_part : std::uint8_t { none, searching, watching };

class alignas(k_cache_line) worker {
public:
    /// Items between two looks at work from outside, so that a worker that feeds itself does not
    /// starve it. Prime, so that it does not fall into step with a pattern of the program.
    static constexpr std::uint32_t k_fairness_interval = 61;

    worker(pool& home, std::uint32_t rank);
    ~worker();
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;

    /// Throws std::bad_alloc without memory for its stack, std::system_error without a thread.
    void start(int processing_unit);
    void join() { m_thread.join(); }

    /// Called in the child of a fork() by a task on this worker: the caller is a plain thread from
    /// now on, which must never come back to the loop.
    void abandon_in_child(context& here) noexcept;

    pool& home() const noexcept { return m_pool; }
    std::uint32_t rank() const noexcept { return m_rank; }
    pid_t thread_id() const noexcept { return m_thread_id.load(std::memory_order_relaxed); }

    // -- called on this worker ---------------------------------------------------------------

    /// The loop. Runs at the bottom of every context; never returns.
    [[noreturn]] static void run_loop(context& self) noexcept;

    /// Whether a thread from outside runs what runs here.
    bool has_guest() const noexcept { return m_guest != nullptr; }

    /// Makes an item ready on this worker, and wakes another if one should help.
    void push(runnable& item) noexcept {
        if (keeps_in_deque() && item.is_default()) [[likely]] {
            queues.deque.push(&item);
            offer_if_wanted();
        } else {
            push_elsewhere(item);
        }
    }

    /// The same for several of normal priority without hints, the last one the first to be taken
    /// where it keeps them in its deque.
    void push(ready_batch& items) noexcept;
    /// The same for several that have a rank.
    void push_ranked(ready_batch& items) noexcept;

    /// The item that it takes next, without a queue. Called at the end of what it runs.
    void take_next(runnable& item) noexcept;

    /// Makes a context ready behind everything that is ready now.
    void push_last(context& c) noexcept;

    /// The item that it takes next of those that it keeps by its policy, or null.
    runnable* pop() noexcept {
        if (!keeps_in_deque()) {
            return m_policy_queues->pop(m_rank).get();
        }
        runnable* const item = queues.deque.pop();
        offer_if_wanted();
        return item;
    }

    /// Puts an item back that pop() has just given.
    void put_back(runnable& item) noexcept;

    /// Takes a task out of this worker's queues, for one who waits for it and is going to run it
    /// here. False: it stands elsewhere, or has been taken.
    bool take_back(runnable& item) noexcept {
        if (!keeps_in_deque()) {
            return take_back_elsewhere(item);
        }
        const bool is_taken = queues.deque.remove(item);
        offer_if_wanted();
        if (is_taken) {
            note_wait_of(item);
        }
        return is_taken;
    }

    /// Whether what it pushes without a hint, at normal priority, stays in its own deque.
    bool keeps_in_deque() const noexcept { return m_policy_queues == nullptr; }

    /// Gives up an entry whose task has been begun elsewhere, as if it had come to it.
    void drop(runnable& empty) noexcept;

    /// Makes some private entries of the deque public if a thief has asked for work.
    void offer_if_wanted() noexcept {
        if (queues.deque.wanted()) [[unlikely]] {
            answer_request();
        }
    }

    /// Work that any worker may take has become public: wakes a sleeper if no worker is searching.
    void notify_public_work() noexcept;
    /// Work of that worker has become public: wakes who may take it.
    void notify_work_of(worker& holder) noexcept;

    /// A stack of at least that class, from this worker's spare ones if possible.
    context& take_context(stack_class at_least) noexcept;
    void recycle(context& left) noexcept;

    /// Leaves `from` for `to`; `after(argument, from)` runs once `from` has been left.
    struct after_switch {
        void (*run)(context& left, void* argument) = nullptr;
        void* argument = nullptr;
    };
    void switch_context(context& from, context& to, after_switch after) noexcept;
    /// The two halves of it, for a context that runs elsewhere in between: leave_context returns
    /// where the context is resumed, arrived reports that it is back on this worker.
    void leave_context(context& from, context& to, after_switch after) noexcept;
    void arrived(context& c) noexcept;
    [[noreturn]] void leave_for(context& from, context& to) noexcept;

    /// Counts how long an item stood in its queue that is run in the place of who took it out.
    void note_wait_of(const runnable& taken) noexcept {
        if (k_counters && taken.ready.at != 0) [[unlikely]] {
            stats.waited(taken.ready.at, ticks(), taken.staged);
        }
    }

    // -- read by thieves ---------------------------------------------------------------------

    /// Takes a fork entry from the running context or the stealable contexts; `from` is the one
    /// that held it.
    fork_entry* steal_fork(context*& from) noexcept;
    bool has_public_work() noexcept;
    /// Whether others may take what it holds. Not under policies that do not steal, unless it is
    /// throttled.
    bool is_stealable() const noexcept;
    void request_work(tick_count now) noexcept;
    /// Whether it keeps work for itself although a thief asked for it long ago, because it runs
    /// something that does not look, and whether others can take that over.
    bool is_silent(tick_count now) const noexcept;
    /// Makes some of what it keeps for itself public. True: there is something to steal now.
    bool take_over() noexcept;

    /// Its NUMA node among those of the pool.
    std::uint32_t node_index() const noexcept { return m_node; }

    // -- read by reports ---------------------------------------------------------------------

    /// Ready items in the queues of only this worker; what it was a moment ago.
    std::size_t queued() const noexcept;

    /// What runs now, if anything; it lives as long as the pool, and may run elsewhere by now.
    context* running() const noexcept { return m_current.load(std::memory_order_acquire); }

    /// What it has counted of each site; null without counters.
    const site_counts* sites() const noexcept { return m_sites.get(); }
    site_counts* sites() noexcept { return m_sites.get(); }  ///< for the worker itself

    /// Whether it sleeps or keeps watch.
    bool is_asleep() const noexcept { return parker.is_asleep(); }

    /// How often it has looked in vain since it ran out of work; 0 while it has some. And how many
    /// items it has begun in turn since it last had none.
    std::uint64_t searched_in_vain() const noexcept {
        return stats.phase() == worker_phase::idle ? stats.misses.value() - m_dry_misses : 0;
    }
    std::uint64_t begun_in_turn() const noexcept {
        return stats.phase() == worker_phase::idle ? 0
                                                   : stats.activations.value() - m_dry_activations;
    }

    worker_queues queues;
    stealable_contexts suspended;
    worker_stats stats;
    sleeper<std_atomics> parker;

private:
    friend class context;
    friend class pool;
    friend void suspend(bool (*)(context&, void*), void*, const wait_reason&) noexcept;
    friend void run_before_self(runnable&) noexcept;
    friend void run_beside_self(runnable&, creator_link&) noexcept;
    friend void lend_to_spare_thread(lent_task&);

    void thread_main(int processing_unit, const stack_span& span) noexcept;
    void adopt(context& c) noexcept;
    void landed(context& here) noexcept;

    work* next_item() noexcept;
    work* take_successor() noexcept;
    static void end_own_task(context& self) noexcept;
    context& next_context(context& leaving) noexcept;
    static bool run_beside(context& self, runnable& first) noexcept;
    void resumes(context& creator) noexcept;
    void begin_item(work& item) noexcept;
    const hooks* begin_running() noexcept;
    void end_item() noexcept;
    void note_wait(work& item) noexcept;
    [[noreturn]] void hand_over(context& self, work& item, context& next) noexcept;
    bool sends_home(const work& item, context& next) const noexcept;
    QUERN_COLD void answer_request() noexcept;
    QUERN_COLD void push_elsewhere(runnable& item) noexcept;
    QUERN_COLD bool take_back_elsewhere(runnable& item) noexcept;
    bool has_items() noexcept;
    void publish_work() noexcept;
    void ask_all_others() noexcept;
    void give_up(context& self) noexcept;
    bool has_due() const noexcept;
    void look_after_time(idle_part part) noexcept;
    void fire_timers() noexcept;
    bool ask_pollers(idle_part part) noexcept;
    QUERN_COLD void leave_idle() noexcept;
    void see_to_watch() noexcept;
    work* take_oldest() noexcept;
    work* take_forked() noexcept;
    work* take_ready() noexcept;
    work* look_for_ready() noexcept;
    work* take_aged() noexcept;
    work* take_injected() noexcept;
    QUERN_COLD work* take_placed() noexcept;
    QUERN_COLD work* take_placed_in_turn() noexcept;
    QUERN_COLD work* take_above(order_key floor) noexcept;
    QUERN_COLD work* take_low() noexcept;
    QUERN_COLD bool has_before(const runnable& item) const noexcept;
    bool is_turn_of_others() const noexcept;
    worker& any_other() noexcept;
    work* search_and_park() noexcept;
    void stop_searching() noexcept;
    work* search() noexcept;
    using ring = std::vector<worker*>;
    work* steal_round() noexcept;
    work* steal_from(std::span<const ring> rings, bool requests, tick_count now) noexcept;
    work* try_steal(worker& victim, unsigned turn) noexcept;
    work* steal_above(order_key floor) noexcept;
    work* steal_hinted(tick_count now) noexcept;
    work* steal_hinted(worker& victim, tick_count now) noexcept;
    void has_stolen_from(worker& victim) noexcept;
    ready_list take_kept(worker& victim, const theft& what) noexcept;
    work* keep_rest(ready_list& taken) noexcept;
    void run_guest(runnable& item) noexcept;
    void leave_to_sleeper() noexcept;
    void park() noexcept;
    void sleep() noexcept;
    bool act_as_watch() noexcept;
    void sleep_watching_for_hangs() noexcept;
    std::chrono::nanoseconds until_next_look() const noexcept;
    bool may_request(tick_count now) noexcept;
    bool is_throttled() const noexcept;
    work* obey_throttle() noexcept;
    void learn_from_theft() noexcept;
    [[noreturn]] void leave_pool(context& self) noexcept;
    [[noreturn]] void switch_away(context& from, execution_stack& to) noexcept;

    pool& m_pool;
    const std::uint32_t m_rank;
    policy_queues* m_policy_queues = nullptr;  ///< of the pool; null: the deque
    std::uint32_t m_node = 0;
    std::uint32_t m_tick = 0;
    std::size_t m_fired = 0;  ///< timers whose tasks have not had their turn in the injector
    sampling_turn m_timed;    ///< of what this worker makes ready
    rng m_random;
    tick_count m_last_request = 0;
    tick_count m_request_interval = 0;
    tick_count m_stole_at = 0;        ///< when the present item was stolen, or 0
    tick_count m_dry_since = 0;       ///< when it ran out of work, or was woken last since then
    bool m_leaves_hinted = false;     ///< its last round has left hinted items to their workers
    std::uint32_t m_last_batch = 0;   ///< ready items that were taken then
    std::uint32_t m_batch_limit = 1;  ///< how many of them a thief would like
    work* m_stolen_fork = nullptr;    ///< the last forked child that was stolen; may have gone
    context* m_forking_context = nullptr;  ///< the context that held it
    runnable* m_successor = nullptr;       ///< of what has just ended, or null
    std::atomic<context*> m_current{nullptr};
    relaxed<std::uint64_t> m_dry_misses = 0;  ///< when it ran out of work, or began
    relaxed<std::uint64_t> m_dry_activations = 0;
    std::unique_ptr<site_counts> m_sites;
    exception_globals* m_exceptions = nullptr;
    single_writer_counter m_away;  ///< contexts that left here less those that came back here
    single_writer_counter m_coroutines_away;  ///< the same of coroutines
    std::uint32_t m_note_turn = 0;            ///< of places for their notes
    after_switch m_after;
    context* m_left = nullptr;  ///< whom m_after concerns
    execution_stack m_native;   ///< the thread's own stack: runs nothing but the first switch
    execution_stack* m_guest = nullptr;  ///< that of the thread that has its place, or null
    idle_part m_asks_as = idle_part::none;
    std::vector<context*> m_spare;
    std::vector<ring> m_victims;        ///< nearest first
    std::size_t m_rings_of_node = 0;    ///< of these, those within the worker's NUMA node
    std::atomic<pid_t> m_thread_id{0};  ///< as the kernel numbers it
    std::thread m_thread;
    yield_budget m_yields;  ///< of its searches
};

/// The worker that runs the calling thread, or null.
inline worker* current_worker() noexcept {
    context* c = current_context();
    return c != nullptr ? &c->host() : nullptr;
}

}  // namespace quern::detail
