// SPDX-License-Identifier: BSL-1.0
// A call that is waiting for its input: what a continuation and a frame of dataflow have in common.
// The function, its input, the item of the ready queue and the state of the result are one object.
#pragma once

#include <quern/task/attributes.hpp>
#include <quern/task/shared_state.hpp>
#include <quern/task/stop.hpp>

#include <optional>
#include <utility>

namespace quern::detail {

template <class Input, class F, class T>
class pending_call : public shared_state<T>, public runnable {
protected:
    /// Two references: the future's, and one that is given up when the call has been made.
    pending_call(const task_attributes& how, Input&& input, F&& f,
                 typename state_base::destroy_function destroy)
        : shared_state<T>(2, destroy),
          runnable(run_queued),
          m_pool(pool_of(how)),
          m_stop(how.stop),
          m_input(std::move(input)),
          m_function(std::move(f)) {
        apply_attributes(how, *this);
    }
    ~pending_call() = default;

    Input& input() noexcept { return *m_input; }

    /// The input is there: a worker makes the call.
    void queue() noexcept { m_pool.make_ready(*this); }

    /// The input is there: makes the call here, on a fresh stack where this one is nearly used up.
    /// Returns those who must be told.
    state_waiter* call_here() noexcept {
        struct request {
            pending_call& self;
            state_waiter* told;
        } r{*this, nullptr};
        const auto make = [](void* p) {
            auto& asked = *static_cast<request*>(p);
            asked.told = asked.self.call(false);
        };
        context* here = current_context();
        if (here != nullptr && here->is_low(__builtin_frame_address(0))) {
            call_on_fresh_stack(make, &r);
        } else {
            make(&r);
        }
        return r.told;
    }

private:
    static context* run_queued(work& item) {
        auto& self = static_cast<pending_call&>(static_cast<runnable&>(item));
        if (context* larger = begin_task(self)) {
            return larger;
        }
        tell(self.call(true));
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
            Input input = std::move(*m_input);
            m_input.reset();
            F function = std::move(*m_function);
            m_function.reset();
            return function(std::move(input));
        });
    }

    QUERN_COLD state_waiter* cancel() noexcept {
        m_input.reset();
        m_function.reset();
        return this->settle_error(cancelled_task(this->name));
    }

    pool& m_pool;
    std::stop_token m_stop;
    std::optional<Input> m_input;
    std::optional<F> m_function;
};

}  // namespace quern::detail
