// SPDX-License-Identifier: BSL-1.0
// A task with a result: the closure, the shared state and the item of the ready queue in one
// allocation. It is begun exactly once, by a worker that takes it from a queue or by the one who
// waits for it, whoever claims it first; the other finds it claimed.
#pragma once

#include <quern/task/attributes.hpp>
#include <quern/task/future.hpp>
#include <quern/task/stop.hpp>

#include <memory>
#include <optional>

namespace quern::detail {

template <class F, class T>
class task_state final : public shared_state<T>, public runnable {
public:
    /// Two references: the future's and the queue's.
    task_state(F&& f, const std::stop_token& stop)
        : shared_state<T>(
              2, [](state_base& self) noexcept { delete &cast(self); }, state_base::maker::task),
          runnable(run_queued),
          m_stop(stop),
          m_function(std::move(f)) {}

    /// Whoever waits for it may run it: a worker of that pool, or anybody when it is null.
    void allow_waiter_to_begin(const pool* of) noexcept {
        m_pool = of;
        this->m_begin = [](state_base& base, sharing with) noexcept {
            task_state& self = cast(base);
            if (!self.may_run_here()) {
                return;
            }
            // Best out of the queue: else its entry, and with it the state, would stay there until
            // the worker comes to it, and a recursion that always waits would fill the memory.
            if (self.m_pool == nullptr || !current_worker()->take_back(self)) {
                const lent_context lent(self);
                self.begin(true);
                return;
            }
            {
                const lent_context lent(self);
                self.begin_alone(with);
            }
            count_task();
            self.release_of_producer(with);
        };
    }

    /// A continuation that is attached to it makes it ready, once, in the pool of whoever attaches.
    void start_when_watched() noexcept {
        this->m_start = [](state_base& base) noexcept {
            task_state& self = cast(base);
            if (!self.m_begun.load(std::memory_order_relaxed) &&
                !self.m_queued.exchange(true, std::memory_order_relaxed)) {
                self.add_reference();  // the queue's
                current_pool().get().make_ready(self);
            }
        };
    }

    /// Runs the function unless somebody has begun to, or the task has been cancelled: as a task,
    /// or as a part of the caller.
    void begin(bool as_task) noexcept {
        if (!m_begun.exchange(true, std::memory_order_relaxed)) {
            run(as_task, sharing::anybody);  // exclusion only; queue and state carry the data
        } else if (as_task) {
            note_nothing_done();
        }
    }

private:
    using sharing = typename state_base::sharing;

    /// For one who has taken it out of the queue: nobody else begins it, unless he waits for it
    /// too.
    void begin_alone(sharing with) noexcept {
        if (with == sharing::producer) {
            m_begun.store(true, std::memory_order_relaxed);
            run(true, with);
        } else {
            begin(true);
        }
    }

    void run(bool as_task, sharing with) noexcept {
        const stop_signal own(std::move(m_stop));
        if (own.asks_by_token()) {
            m_function.reset();
            this->set_error(cancelled_task(this->name));
            return;
        }
        const under_signal running(own.if_token(), !as_task);
        context* const here = as_task ? current_context() : nullptr;
        if (here != nullptr) {
            here->root().task.result = static_cast<const state_base*>(this);
        }
        this->set_from(
            [this, as_task]() -> T {
                const task_end at_end(as_task);
                return (*m_function)();
            },
            with);
        m_function.reset();
    }

    static void note_nothing_done() noexcept {
        if (context* const here = current_context()) {
            here->root().task.trace.did_nothing = true;
        }
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
               this->stack == stack_class::small;  // more may be left of this stack, or not
    }

    static context* run_queued(work& item) {
        auto& self = static_cast<task_state&>(static_cast<runnable&>(item));
        if (context* larger = begin_task(self)) {
            return larger;
        }
        self.begin(true);
        count_task();
        self.release();
        return nullptr;
    }

    const pool* m_pool = nullptr;
    std::atomic<bool> m_begun{false};
    std::atomic<bool> m_queued{false};  ///< a deferred task that has been made ready after all
    std::stop_token m_stop;
    std::optional<F> m_function;  // destroyed as soon as it has run
};

}  // namespace quern::detail
