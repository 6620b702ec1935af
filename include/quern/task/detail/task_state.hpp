// SPDX-License-Identifier: BSL-1.0
// A task with a result: the closure, the shared state and the item of the ready queue in one
// allocation. It is begun exactly once, by a worker that takes it from a queue or by a waiter,
// whichever claims it first.
#pragma once

#include <quern/task/attributes.hpp>
#include <quern/task/future.hpp>
#include <quern/task/stop.hpp>

#include <memory>
#include <optional>

namespace quern::detail {

/// Whether an item with a larger key is ready, so that the worker's loop would take it before one
/// with this key.
QUERN_COLD bool is_ready_above(const worker_shared& here, order_key key) noexcept;

/// Whether an item precedes both the task and the one that waits for it here. Then the waiter does
/// not run the task but suspends, which returns to the loop. A task gets the place of its waiter if
/// that is the better one, as what waits for it would be late otherwise.
QUERN_COLD bool must_let_others_run(const context& waiter, const runnable& task) noexcept;

/// Token: std::stop_token, or no_token where none was given.
template <class F, class T, class Token = std::stop_token>
class task_state final : public shared_state<T>, public runnable {
public:
    /// Two references: the future's and the queue's. The function is constructed in place from the
    /// parts.
    template <class... Parts>
    explicit task_state(const Token& stop, Parts&&... parts)
        : shared_state<T>(
              2, [](state_base& self) noexcept { delete &cast(self); }, state_base::maker::task),
          runnable(run_queued),
          m_stop(stop),
          m_function(std::in_place, std::forward<Parts>(parts)...) {}

    /// A waiter may run it if it is a worker of that pool.
    void allow_waiter_to_begin(pool& of) noexcept {
        static constexpr help k_begin{begin_if_possible};
        m_pool = &of;
        this->m_help = &k_begin;
    }

    /// Any waiter may run it. A continuation attached to it makes it ready, once, in the pool of
    /// the attaching thread.
    void defer() noexcept {
        static constexpr help k_begin_or_start{begin_if_possible, start_when_watched};
        this->m_help = &k_begin_or_start;
    }

    /// Of a child task.
    void note_kind(child_kind own) noexcept { m_kind_of_child = own; }

    /// Runs the function as part of the caller.
    void begin_now() noexcept {
        if (claim()) {
            run(task_body::part_of::caller, sharing::any);
        }
    }

private:
    using sharing = typename state_base::sharing;
    using help = typename state_base::help;

    static void begin_if_possible(state_base& base, sharing with) noexcept {
        task_state& self = cast(base);
        if (self.may_run_here()) {
            self.begin_in_place(with);
        }
    }

    static void start_when_watched(state_base& base) noexcept {
        task_state& self = cast(base);
        if (!self.begun.load(std::memory_order_relaxed) &&
            !self.m_queued.exchange(true, std::memory_order_relaxed)) {
            self.add_reference();  // the queue's
            current_pool().get().make_ready(self);
        }
    }

    /// True: the caller must run the function. relaxed: exclusion only; queue and state carry the
    /// data.
    bool claim() noexcept { return !this->begun.exchange(true, std::memory_order_relaxed); }

    /// For a waiter. First tries to take the task out of the queue; otherwise its entry, and with
    /// it the state, would stay there. A waiter that has taken it out and holds the only future
    /// shares the state with no other thread.
    void begin_in_place(sharing with) noexcept {
        worker* const here = current_worker();
        const bool is_taken = here != nullptr && here->take_back(*this);
        const bool is_alone = is_taken && with == sharing::producer;
        if (is_alone) {
            this->begun.store(true, std::memory_order_relaxed);
        }
        if (is_alone || claim()) {
            run_in_place(is_alone ? sharing::producer : sharing::any);
            if (!is_taken && m_pool != nullptr) {
                m_pool->entry_left_empty();
            }
        }
        if (is_taken) {
            this->release_of_producer(is_alone ? sharing::producer : sharing::any);
        }
    }

    void run_in_place(sharing with) noexcept {
        inline_scope here;
        here.begin(*this);
        run(task_body::part_of::task, with);
        here.end_and_count();
    }

    void run(task_body::part_of what, sharing with) noexcept {
        if constexpr (std::is_same_v<Token, no_token>) {
            run_under(nullptr, what, with);
        } else {
            const stop_signal own(std::move(m_stop));
            if (own.asks_by_token()) {
                m_function.reset();
                this->set_error(detail::cancelled_task(this->name));
                return;
            }
            run_under(own.if_token(), what, with);
        }
    }

    void run_under(const stop_signal* signal, task_body::part_of what, sharing with) noexcept {
        const bool is_task = what == task_body::part_of::task;
        const under_signal running(signal, !is_task);
        context* const here = is_task ? current_context() : nullptr;
        if (here != nullptr) {
            here->root().task().result = static_cast<const state_base*>(this);
        }
        this->set_from(
            [this, what]() -> T {
                const emptied_at_end function_ends(m_function);
                const task_body body(what);
                const child_timing timing(m_kind_of_child);
                return (*std::move(m_function))();
            },
            with);
    }

    static task_state& cast(state_base& self) noexcept {
        return static_cast<task_state&>(static_cast<shared_state<T>&>(self));
    }

    bool may_run_here() const noexcept {
        if (m_pool == nullptr) {
            return true;
        }
        const context* here = current_context();
        return here != nullptr && &here->host().home() == m_pool && !this->is_hinted() &&
               this->stack == stack_class::small &&  // a larger one may not fit on this stack
               !(m_pool->has_placed() && detail::must_let_others_run(*here, *this));
    }

    static context* run_queued(work& item) {
        auto& self = static_cast<task_state&>(static_cast<runnable&>(item));
        if (self.begun.load(std::memory_order_relaxed)) {
            return self.pass_over();
        }
        if (context* const larger = detail::begin_task(self)) {
            return larger;
        }
        if (!self.claim()) {
            return self.pass_over();
        }
        self.run(task_body::part_of::task, sharing::any);
        count_task();
        self.release();
        return nullptr;
    }

    /// The waiter has begun it: the entry is empty.
    context* pass_over() noexcept {
        count_no_task();
        if (m_pool != nullptr) {
            m_pool->empty_entry_is_gone();
        }
        this->release();
        return nullptr;
    }

    pool* m_pool = nullptr;
    [[no_unique_address]] Token m_stop;
    std::optional<F> m_function;             ///< empty before the result is known
    std::atomic<bool> m_queued{false};       ///< a deferred task was made ready
    child_kind m_kind_of_child = k_no_kind;  ///< behind the function: mostly where padding would be
};

}  // namespace quern::detail
