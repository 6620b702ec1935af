// SPDX-License-Identifier: BSL-1.0
// A call that waits for its input: the common part of a continuation and a frame of dataflow. The
// function, its input, the item of the ready queue and the state of the result are one object. What
// does not depend on the types is pending_item.
#pragma once

#include <quern/task/attributes.hpp>
#include <quern/task/detail/call_item.hpp>
#include <quern/task/detail/shared_state.hpp>

#include <exception>
#include <optional>
#include <stop_token>
#include <utility>

namespace quern::detail {

class pending_item : public call_item {
protected:
    /// Throws as pool_of().
    pending_item(run_function f, const task_attributes& how);
    ~pending_item() = default;

    /// The input is ready: a worker makes the call; or it is made now, as a child of the task that
    /// made the input ready, and `this` may be gone.
    void queue() noexcept;

    /// The input is ready: makes the call here. Returns the waiters to notify.
    state_waiter* call_here(state_base& state, const typed& as) noexcept;

    /// The run function.
    context* run_queued(state_base& state, const typed& as) noexcept;

    std::stop_token m_stop;

private:
    static state_waiter* close(state_base& state) noexcept;

    pool& m_pool;
};

template <class Input, class F, class T>
class pending_call : public shared_state<T>, public pending_item {
protected:
    /// Two references: the future's, and one that is dropped after the call.
    template <class G>
    pending_call(const task_attributes& how, Input&& input, G&& f,
                 typename state_base::destroy_function destroy)
        : shared_state<T>(2, destroy),
          pending_item(run_queued, how),
          m_input(std::move(input)),
          m_function(std::in_place, std::forward<G>(f)) {}
    ~pending_call() = default;

    Input& input() noexcept { return *m_input; }
    state_waiter* call_here() noexcept { return pending_item::call_here(*this, k_typed); }

private:
    static pending_call& cast(call_item& self) noexcept {
        return static_cast<pending_call&>(static_cast<pending_item&>(self));
    }

    static context* run_queued(work& item) {
        pending_call& self = cast(static_cast<call_item&>(static_cast<runnable&>(item)));
        return self.pending_item::run_queued(self, k_typed);
    }
    static void call(call_item& item) {
        pending_call& self = cast(item);
        self.emplace_result(
            [&self]() -> T { return (*self.m_function)(std::move(*self.m_input)); });
    }
    static void fail(call_item& item, std::exception_ptr error) noexcept {
        cast(item).emplace_error(std::move(error));
    }
    static void drop(call_item& item) noexcept {
        cast(item).m_function.reset();
        cast(item).m_input.reset();
    }
    static std::stop_token* stop(call_item& item) noexcept { return &cast(item).m_stop; }

    static constexpr call_item::typed k_typed{call, fail,
                                              k_owns_something<F, Input> ? drop : nullptr, stop};

    std::optional<Input> m_input;
    std::optional<F> m_function;
};

}  // namespace quern::detail
