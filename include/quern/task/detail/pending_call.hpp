// SPDX-License-Identifier: BSL-1.0
// A call that waits for its input: the common part of a continuation and a frame of dataflow. The
// function, its input, the item of the ready queue and the state of the result are one object.
#pragma once

#include <quern/task/attributes.hpp>
#include <quern/task/detail/enough_stack.hpp>
#include <quern/task/detail/shared_state.hpp>
#include <quern/task/stop.hpp>

#include <optional>
#include <utility>

namespace quern::detail {

template <class Input, class F, class T>
class pending_call : public shared_state<T>, public runnable {
protected:
    /// Two references: the future's, and one that is dropped after the call.
    template <class G>
    pending_call(const task_attributes& how, Input&& input, G&& f,
                 typename state_base::destroy_function destroy)
        : shared_state<T>(2, destroy),
          runnable(run_queued),
          m_pool(pool_of(how)),
          m_stop(how.stop),
          m_input(std::move(input)),
          m_function(std::in_place, std::forward<G>(f)) {
        detail::apply_attributes(how, *this);
        if (how.how == launch::adaptive) {
            m_kind_of_child = detail::kind_of_child(how.site, how.name, how.instance.value());
        }
    }
    ~pending_call() = default;

    Input& input() noexcept { return *m_input; }

    /// The input is ready: a worker makes the call; or it is made now, as a child of the task that
    /// made the input ready, and `this` may be gone.
    void queue() noexcept {
        if (m_kind_of_child != k_no_kind) [[unlikely]] {
            worker* const here = current_worker();
            if (here != nullptr && &here->home() == &m_pool &&
                detail::begins_in_parent(*here, *this, m_kind_of_child)) {
                return;
            }
        }
        m_pool.make_ready(*this);
    }

    /// The input is ready: makes the call here. Returns the waiters to notify.
    state_waiter* call_here() noexcept {
        return detail::on_enough_stack(
            [this]() noexcept { return call(task_body::part_of::caller); });
    }

private:
    static context* run_queued(work& item) {
        auto& self = static_cast<pending_call&>(static_cast<runnable&>(item));
        state_waiter* told = nullptr;
        return detail::run_from_queue(
            self, [&] { told = self.call(task_body::part_of::task); }, [&] { detail::tell(told); });
    }

    state_waiter* call(task_body::part_of what) noexcept {
        const stop_signal own(std::move(m_stop));
        const under_signal running(own.if_token(), what == task_body::part_of::caller);
        state_waiter* told = own.asks_by_token() ? cancel() : make_call(what);
        this->release();
        return told;
    }

    state_waiter* make_call(task_body::part_of what) noexcept {
        return this->settle_from([this, what]() -> T {
            const emptied_at_end input_ends(m_input);
            const emptied_at_end function_ends(m_function);
            const task_body body(what);
            const child_timing timing(m_kind_of_child);
            return (*m_function)(std::move(*m_input));
        });
    }

    QUERN_COLD state_waiter* cancel() noexcept {
        m_input.reset();
        m_function.reset();
        return this->settle_error(detail::cancelled_task(this->name));
    }

    pool& m_pool;
    child_kind m_kind_of_child = k_no_kind;
    std::stop_token m_stop;
    std::optional<Input> m_input;
    std::optional<F> m_function;
};

}  // namespace quern::detail
