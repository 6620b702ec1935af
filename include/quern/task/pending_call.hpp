// SPDX-License-Identifier: BSL-1.0
// A call that is waiting for its input: what a continuation and a frame of dataflow have in common.
// The function, its input, the item of the ready queue and the state of the result are one object.
#pragma once

#include <quern/task/attributes.hpp>
#include <quern/task/enough_stack.hpp>
#include <quern/task/shared_state.hpp>
#include <quern/task/stop.hpp>

#include <optional>
#include <utility>

namespace quern::detail {

template <class Input, class F, class T>
class pending_call : public shared_state<T>, public runnable {
protected:
    /// Two references: the future's, and one that is given up when the call has been made.
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
    }
    ~pending_call() = default;

    Input& input() noexcept { return *m_input; }

    /// The input is there: a worker makes the call.
    void queue() noexcept { m_pool.make_ready(*this); }

    /// The input is there: makes the call here. Returns those who must be told.
    state_waiter* call_here() noexcept {
        return detail::on_enough_stack([this]() noexcept { return call(false); });
    }

private:
    static context* run_queued(work& item) {
        auto& self = static_cast<pending_call&>(static_cast<runnable&>(item));
        if (context* larger = detail::begin_task(self)) {
            return larger;
        }
        detail::tell(self.call(true));
        count_task();
        return nullptr;
    }

    state_waiter* call(bool as_task) noexcept {
        const stop_signal own(std::move(m_stop));
        const under_signal running(own.if_token(), !as_task);
        state_waiter* told = own.asks_by_token() ? cancel() : make_call(as_task);
        this->release();
        return told;
    }

    state_waiter* make_call(bool as_task) noexcept {
        return this->settle_from([this, as_task]() -> T {
            const task_end at_end(as_task);
            struct resetter {  // gone before anybody is told
                pending_call& self;
                ~resetter() {
                    self.m_function.reset();
                    self.m_input.reset();
                }
            } const at_end_of_call{*this};
            const task_body body;
            return (*m_function)(std::move(*m_input));
        });
    }

    QUERN_COLD state_waiter* cancel() noexcept {
        m_input.reset();
        m_function.reset();
        return this->settle_error(detail::cancelled_task(this->name));
    }

    pool& m_pool;
    std::stop_token m_stop;
    std::optional<Input> m_input;
    std::optional<F> m_function;
};

}  // namespace quern::detail
