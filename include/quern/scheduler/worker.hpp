// SPDX-License-Identifier: BSL-1.0
// One OS thread of a pool and what it owns: queues, shelf, spare stacks, statistics. Its loop, in
// src/scheduler/loop.cpp, is the whole life of a worker and the place to begin reading.
#pragma once

#include <quern/base/relaxed.hpp>
#include <quern/base/rng.hpp>
#include <quern/scheduler/context.hpp>
#include <quern/scheduler/idle_gate.hpp>
#include <quern/scheduler/policy.hpp>
#include <quern/scheduler/ready_deque.hpp>
#include <quern/scheduler/ready_queue.hpp>
#include <quern/scheduler/ready_ring.hpp>
#include <quern/scheduler/worker_stats.hpp>

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

namespace quern::detail {

class pool;

/// Contexts that are not running but hold public fork entries: suspended ones, and those below a
/// call on a fresh stack. Thieves look here after the running context.
class shelf {
public:
    void put(context& c) noexcept;
    static void take(context& c) noexcept;  ///< from whichever shelf it stands on, if any
    /// `from`: the context that held it, when there is one.
    fork_entry* steal(context*& from) noexcept;
    bool has_public() noexcept;

private:
    void remove(context& c) noexcept;

    spin_lock m_lock;
    intrusive_list<context> m_contexts;
    std::atomic<std::uint32_t> m_count{0};
};

/// The queues of a worker; a scheduling policy decides which of them it uses and how.
struct worker_queues {
    ready_deque<std_atomics, runnable> deque;  ///< work-stealing
    ready_ring pending;                        ///< resumed contexts (priority-local policies)
    ready_ring staged;                         ///< tasks that never ran (priority-local policies)
    ready_ring* of_node = nullptr;             ///< of all workers of the NUMA node (sherwood)
    ready_queue inbox;       ///< pushed by others; everything where nothing is stolen
    std::uint32_t turn = 0;  ///< who gets the next new task (nemesis)
    ready_queue pinned;      ///< contexts that go on here alone: no thief looks at it
};

class alignas(k_cache_line) worker {
public:
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

    /// Makes an item ready on this worker, and wakes another if one should help.
    void push(runnable& item) noexcept {
        if (m_keeps_in_deque && item.urgency == priority::normal) [[likely]] {
            queues.deque.push(&item);
            offer_if_wanted();
        } else {
            push_elsewhere(item);
        }
    }

    /// Makes a context ready behind everything that is ready now.
    void push_last(context& c) noexcept;

    /// Puts an item back that the policy has just given.
    void put_back(runnable& item) noexcept;

    /// Takes a task out of this worker's queues, for one who waits for it and is going to run it
    /// here. False: it stands elsewhere, or has been taken.
    bool take_back(const runnable& item) noexcept {
        if (!m_keeps_in_deque) {
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
    bool keeps_in_deque() const noexcept { return m_keeps_in_deque; }

    /// Gives up an entry whose task has been begun elsewhere, as if it had come to it.
    void drop(runnable& empty) noexcept;

    /// Makes some of what the deque keeps private public if somebody has asked for it.
    void offer_if_wanted() noexcept {
        if (queues.deque.wanted()) [[unlikely]] {
            answer_hunger();
        }
    }

    /// Work that any worker may take has become public: wakes a sleeper when nobody is searching.
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
    /// The two halves of that, for a context that runs elsewhere in between: leaves, and returns
    /// where it goes on; and says that it has come back to this worker.
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

    /// Takes a fork entry from the running context or the shelf; `from` is the one that held it.
    fork_entry* steal_fork(context*& from) noexcept;
    bool has_public_work() noexcept;
    /// Whether others may take what it holds. Not under policies that do not steal, unless it is
    /// throttled.
    bool may_be_robbed() const noexcept;
    void make_hungry(tick_count now) noexcept;
    /// Whether it keeps work for itself although a thief asked for it long ago, because it runs
    /// something that does not look, and whether others can take that over.
    bool is_silent(tick_count now) const noexcept;
    /// Makes some of what it keeps for itself public. True: there is something to steal now.
    bool take_over() noexcept;

    // -- read by reports ---------------------------------------------------------------------

    /// What runs now, if anything; it lives as long as the pool, and may run elsewhere by now.
    context* running() const noexcept { return m_current.load(std::memory_order_acquire); }

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
    shelf suspended;
    worker_stats stats;
    sleeper<std_atomics> bed;

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
    context& next_context(context& leaving) noexcept;
    static bool run_beside(context& self, runnable& first) noexcept;
    void goes_on(context& creator) noexcept;
    void begin_item(work& item) noexcept;
    const hooks* begin_running() noexcept;
    void end_item() noexcept;
    void note_wait(work& item) noexcept;
    [[noreturn]] void hand_over(context& self, work& item, context& next) noexcept;
    bool sends_home(const work& item, context& next) const noexcept;
    QUERN_COLD void answer_hunger() noexcept;
    QUERN_COLD void push_elsewhere(runnable& item) noexcept;
    QUERN_COLD bool take_back_elsewhere(const runnable& item) noexcept;
    void lay_open() noexcept;
    void tell(worker* holder) noexcept;
    void ask_all_others() noexcept;
    void give_up(context& self) noexcept;
    void look_after_timers() noexcept;
    void fire_timers() noexcept;
    work* take_oldest() noexcept;
    work* take_forked() noexcept;
    work* take_ready() noexcept;
    work* look_for_ready() noexcept;
    work* take_aged() noexcept;
    work* take_injected() noexcept;
    work* search_and_park() noexcept;
    void stop_searching() noexcept;
    work* search() noexcept;
    using ring = std::vector<worker*>;
    work* steal_round() noexcept;
    work* steal_from(std::span<const ring> rings, bool hungry, tick_count now) noexcept;
    work* rob(worker& victim, unsigned turn) noexcept;
    work* keep_rest(runnable& loot) noexcept;
    void park() noexcept;
    void sleep() noexcept;
    void sleep_watching_for_hangs() noexcept;
    std::chrono::nanoseconds until_next_look() const noexcept;
    bool may_be_hungry(tick_count now) noexcept;
    bool is_throttled() const noexcept;
    work* obey_throttle() noexcept;
    void learn_from_theft() noexcept;
    [[noreturn]] void leave_pool(context& self) noexcept;
    [[noreturn]] void switch_away(context& from, execution_stack& to) noexcept;

    pool& m_pool;
    const std::uint32_t m_rank;
    const bool m_keeps_in_deque;  ///< as the policy says
    std::uint32_t m_tick = 0;
    std::size_t m_fired = 0;  ///< timers whose tasks have not had their turn in the injector
    sampling_turn m_timed;    ///< of what this worker makes ready
    rng m_random;
    tick_count m_last_hunger = 0;
    tick_count m_hunger_interval = 0;
    tick_count m_stole_at = 0;     ///< when the present item was stolen, or 0
    std::uint32_t m_haul = 0;      ///< ready items that were taken then
    std::uint32_t m_appetite = 1;  ///< how many of them a thief would like
    work* m_loot = nullptr;        ///< the last forked child that was stolen; may have gone
    context* m_robbed = nullptr;   ///< the context that held it
    std::atomic<context*> m_current{nullptr};
    relaxed<std::uint64_t> m_dry_misses = 0;  ///< when it ran out of work, or began
    relaxed<std::uint64_t> m_dry_activations = 0;
    exception_globals* m_exceptions = nullptr;
    single_writer_counter m_away;  ///< contexts that left here less those that came back here
    single_writer_counter m_coroutines_away;  ///< the same of coroutines
    std::uint32_t m_note_turn = 0;            ///< of places for their notes
    after_switch m_after;
    context* m_left = nullptr;  ///< whom m_after concerns
    execution_stack m_native;   ///< the thread's own stack: runs nothing but the first switch
    std::vector<context*> m_spare;
    std::vector<ring> m_victims;        ///< nearest first
    std::size_t m_rings_of_node = 0;    ///< of these, those within the worker's NUMA node
    std::atomic<pid_t> m_thread_id{0};  ///< as the kernel numbers it
    std::thread m_thread;
};

/// The worker that runs the calling thread, or null.
inline worker* current_worker() noexcept {
    context* c = current_context();
    return c != nullptr ? &c->host() : nullptr;
}

/// A task's function begins, and ends: what is before it and after it is the runtime's own work.
/// The first result is for the second call.
QUERN_ALWAYS_INLINE std::uint32_t body_begins() noexcept {
    worker* const here = k_counters ? current_worker() : nullptr;
    return here != nullptr ? here->stats.overhead.ends() : 0;
}
QUERN_ALWAYS_INLINE void body_ends(std::uint32_t timed) noexcept {
    if (timed != 0) [[unlikely]] {
        if (worker* const here = current_worker()) {
            here->stats.overhead.goes_on(timed);
        }
    }
}

/// Stands around the call of a task's function.
class task_body {
public:
    QUERN_ALWAYS_INLINE task_body() noexcept : m_timed(body_begins()) {}
    task_body(const task_body&) = delete;
    task_body& operator=(const task_body&) = delete;
    QUERN_ALWAYS_INLINE ~task_body() { body_ends(m_timed); }

private:
    std::uint32_t m_timed;
};

/// Stands around what the runtime does for a running task: makes another one, or runs the one that
/// it waits for.
class own_work {
public:
    explicit own_work(overhead_clock::part what) noexcept {
        if constexpr (k_counters) {
            worker* const here = current_worker();
            m_timed = here != nullptr && here->stats.overhead.begins(what);
        }
    }
    own_work(const own_work&) = delete;
    own_work& operator=(const own_work&) = delete;
    ~own_work() {
        if (m_timed) [[unlikely]] {
            body_begins();
        }
    }

private:
    bool m_timed = false;
};

/// A task that called fork() has returned in the child, where its worker is not: a message, and the
/// end.
[[noreturn]] QUERN_COLD void returned_in_child() noexcept;

/// The worker on which a task's function has ended.
QUERN_ALWAYS_INLINE worker& worker_of_task() noexcept {
    context* const here = current_context();
    if (here == nullptr) [[unlikely]] {
        returned_in_child();
    }
    return here->host();
}

/// To be called by a task's run function when the user's function has ended.
QUERN_ALWAYS_INLINE void count_task() noexcept { worker_of_task().stats.tasks.add(); }

/// The same by one who has run the task in its own place.
QUERN_ALWAYS_INLINE void count_inlined_task() noexcept { worker_of_task().stats.inlined.add(); }

/// Instead of it when the item was an empty entry: its task has been begun elsewhere, and is
/// counted there.
inline void count_no_task() noexcept {
    context& here = *current_context();
    here.root().task().trace.did_nothing = true;
    here.host().stats.activations.take_back();
}

}  // namespace quern::detail
