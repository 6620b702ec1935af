// SPDX-License-Identifier: BSL-1.0
// One OS thread of a pool, as its own thread may use it. Its loop, in
// src/scheduler/worker/loop.cpp, is the whole life of a worker and the place to begin reading.
// Other threads have it as worker_shared (thieves, senders, wakers) or worker_status (reports).
#pragma once

#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/idle_loop.hpp>
#include <quern/scheduler/detail/item_selector.hpp>
#include <quern/scheduler/detail/ready_batch.hpp>
#include <quern/scheduler/detail/thief.hpp>
#include <quern/scheduler/detail/worker_stacks.hpp>

#include <cstdint>
#include <thread>

namespace quern::detail {

struct hooks;

class worker final : public worker_stacks {
public:
    worker(pool& home, std::uint32_t rank);

    /// Throws std::bad_alloc without memory for its stack, std::system_error without a thread.
    void start(int processing_unit);
    void join() { m_thread.join(); }

    /// Called in the child of a fork() by a task on this worker: the caller is a plain thread from
    /// now on, which must never come back to the loop.
    void abandon_in_child(context& here) noexcept;

    /// The loop. Runs at the bottom of every context; never returns.
    [[noreturn]] static void run_loop(context& self) noexcept;
    /// The loop for items whose creator is aside. True: the creator is still aside and must resume
    /// now.
    static bool run_beside(context& self, runnable& first) noexcept;
    /// Runs the item for a thread from outside, in the place of this worker, which sleeps.
    void run_guest(runnable& item) noexcept;

    // -- by its pool, before it starts --------------------------------------------------------

    using worker_shared::count_near_rings;
    using worker_shared::set_node;
    using worker_shared::set_policy_queues;
    using worker_shared::set_victims;

    // -- what it counts -----------------------------------------------------------------------

    worker_stats& stats() noexcept { return own_stats(); }
    using worker_status::stats;
    site_counts* sites() noexcept { return own_sites(); }
    using worker_status::sites;

    /// The owner's end of the deque.
    worker_deque& deque() noexcept { return own_deque(); }
    ready_queue& pinned() noexcept { return own_pinned(); }

    // -- making items ready -------------------------------------------------------------------

    /// Makes an item ready on this worker, and wakes another if one should help.
    void push(runnable& item) noexcept {
        if (keeps_in_deque() && item.is_default()) [[likely]] {
            own_deque().push(&item);
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

    /// Puts all but the first of what it has taken into its own queues.
    work* keep_rest(ready_list& taken) noexcept;

    // -- taking items -------------------------------------------------------------------------

    /// The item that it takes next of those that it keeps by its policy, or null.
    runnable* pop() noexcept {
        if (!keeps_in_deque()) {
            return kept_by_policy()->pop(rank()).get();
        }
        runnable* const item = own_deque().pop();
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
        const bool is_taken = own_deque().remove(item);
        offer_if_wanted();
        if (is_taken) {
            note_wait_of(item);
        }
        return is_taken;
    }

    /// Whether what it pushes without a hint, at normal priority, stays in its own deque.
    bool keeps_in_deque() const noexcept { return kept_by_policy() == nullptr; }

    /// Gives up an entry whose task has been begun elsewhere, as if it had come to it.
    void drop(runnable& empty) noexcept;

    /// Counts how long an item stood in its queue that is run in the place of who took it out.
    void note_wait_of(const runnable& taken) noexcept {
        if (k_counters && taken.ready.at != 0) [[unlikely]] {
            own_stats().waited(taken.ready.at, ticks(), taken.staged);
        }
    }

    // -- giving work to others ----------------------------------------------------------------

    /// Makes some private entries of the deque public if a thief has asked for work.
    void offer_if_wanted() noexcept {
        if (own_deque().wanted()) [[unlikely]] {
            answer_request();
        }
    }
    /// Makes all public that it keeps for itself.
    void publish_work() noexcept;
    /// The context has public fork entries and does not run now: thieves find it here.
    void list_stealable(context& c) noexcept { own_suspended().put(c); }
    /// Thieves see again what runs here. Before it publishes entries.
    void show_running(context& c) noexcept { set_running(&c, std::memory_order_seq_cst); }

    /// Work that any worker may take has become public: wakes a sleeper if no worker is searching.
    void notify_public_work() noexcept;
    /// Work of that worker has become public: wakes who may take it.
    void notify_work_of(worker_shared& holder) noexcept;

    // -- suspension ---------------------------------------------------------------------------

    /// The task on `self` is about to leave this worker.
    void give_up(context& self) noexcept;
    /// The context to switch to when a task suspends.
    context& next_context(context& leaving) noexcept;
    /// A creator that was aside resumes.
    void resumes(context& creator) noexcept;
    /// A coroutine suspends here, and resumes here.
    single_writer_counter& coroutines() noexcept { return own_coroutines_away(); }
    std::uint32_t& note_turn() noexcept { return m_note_turn; }

    /// Whether the item that becomes ready now is to carry the time.
    bool is_timed_now() noexcept { return m_timed.comes(); }

    thief& thefts() noexcept { return m_thief; }
    item_selector& selector() noexcept { return m_selector; }
    idle_loop& idle() noexcept { return m_idle; }
    using worker_status::note_dry;

private:
    void thread_main(int processing_unit, const stack_span& span) noexcept;
    work* next_item() noexcept;
    void begin_item(work& item) noexcept;
    const hooks* begin_running() noexcept;
    void end_item() noexcept;
    void note_wait(work& item) noexcept;
    [[noreturn]] void hand_over(context& self, work& item, context& next) noexcept;
    bool sends_home(const work& item, context& next) const noexcept;
    QUERN_COLD void answer_request() noexcept;
    QUERN_COLD void push_elsewhere(runnable& item) noexcept;
    QUERN_COLD bool take_back_elsewhere(runnable& item) noexcept;

    runnable* m_successor = nullptr;  ///< of what has just ended, or null
    sampling_turn m_timed;            ///< of what this worker makes ready
    std::uint32_t m_note_turn = 0;    ///< of places for the notes of coroutines
    item_selector m_selector;
    thief m_thief;
    idle_loop m_idle;
    std::thread m_thread;
};

/// The worker that runs the context. Requires: the context runs on the calling thread, or has just
/// been left by it.
inline worker& this_worker(const context& here) noexcept {
    return static_cast<worker&>(here.host());
}

/// The worker that runs the calling thread. Requires: there is one.
inline worker& this_worker() noexcept { return this_worker(*current_context()); }

/// The same, or null.
inline worker* current_worker() noexcept {
    context* c = current_context();
    return c != nullptr ? &this_worker(*c) : nullptr;
}

}  // namespace quern::detail
