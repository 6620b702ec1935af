// SPDX-License-Identifier: BSL-1.0
// What happens when a future becomes ready: a continuation (then), or the unwrapping of a future
// of a future. Included by future.hpp.
#pragma once

#include <quern/task/future.hpp>

#include <optional>

namespace quern::detail {

/// A task that is made ready by the end of another: waiter, item and state in one allocation.
template <class Future, class F, class T>
class continuation final : public shared_state<T>, public runnable, public state_waiter {
public:
    continuation(const task_attributes& how, Future source, F&& f)
        : shared_state<T>(2, [](state_base& self) noexcept { delete &cast(self); }),
          runnable(run_queued),
          state_waiter{how.how == launch::sync ? notify_sync : notify_queued, nullptr,
                       how.how == launch::sync},
          m_pool(pool_of(how)),
          m_source(std::move(source)),
          m_function(std::move(f)) {
        apply_attributes(how, *this);
    }

    /// Waits for the source, or goes on at once when it is ready.
    void start() noexcept {
        auto& source = m_source->state();
        if (!source.add_waiter(*this)) {
            tell(notify(*this));
        }
    }

private:
    static continuation& cast(state_base& self) noexcept {
        return static_cast<continuation&>(static_cast<shared_state<T>&>(self));
    }
    /// Where the stack is nearly used up, the function is called on a fresh one.
    static state_waiter* notify_sync(state_waiter& w) noexcept {
        struct call {
            continuation& self;
            state_waiter* told;
        } c{static_cast<continuation&>(w), nullptr};
        const auto run = [](void* p) {
            auto& here = *static_cast<call*>(p);
            here.told = here.self.finish();
        };
        context* here = current_context();
        if (here != nullptr && here->is_low(__builtin_frame_address(0))) {
            call_on_fresh_stack(run, &c);
        } else {
            run(&c);
        }
        return c.told;
    }
    static state_waiter* notify_queued(state_waiter& self) noexcept {
        auto& me = static_cast<continuation&>(self);
        me.m_pool.make_ready(me);
        return nullptr;
    }
    static context* run_queued(work& item) {
        auto& self = static_cast<continuation&>(static_cast<runnable&>(item));
        if (context* larger = begin_task(self)) {
            return larger;
        }
        tell(self.finish());
        current_context()->host().stats.tasks.add();
        return nullptr;
    }

    state_waiter* finish() noexcept {
        state_waiter* told = this->settle_from([this]() -> T {
            Future source = std::move(*m_source);
            m_source.reset();
            F function = std::move(*m_function);
            m_function.reset();
            return function(std::move(source));
        });
        this->release();
        return told;
    }

    pool& m_pool;
    std::optional<Future> m_source;
    std::optional<F> m_function;
};

template <class Future, class F>
auto attach(const task_attributes& how, Future source, F&& f) {
    using function = std::decay_t<F>;
    using T = std::invoke_result_t<function&, Future>;
    auto* next =
        new continuation<Future, function, T>(how, std::move(source), function(std::forward<F>(f)));
    future<T> result{state_ref<shared_state<T>>(next)};
    next->start();
    return result;
}

/// Becomes ready when the inner future of an outer one does.
template <class T>
class flattened_state final : public shared_state<T>, public state_waiter {
public:
    explicit flattened_state(future<future<T>>&& outer)
        : shared_state<T>(2, [](state_base& self) noexcept { delete &cast(self); }),
          state_waiter{on_outer},
          m_outer(std::move(outer)) {}

    void start() noexcept {
        if (!m_outer.state().add_waiter(*this)) {
            tell(notify(*this));
        }
    }

private:
    static flattened_state& cast(state_base& self) noexcept {
        return static_cast<flattened_state&>(static_cast<shared_state<T>&>(self));
    }
    static state_waiter* on_outer(state_waiter& w) noexcept {
        auto& self = static_cast<flattened_state&>(w);
        try {
            self.m_inner = self.m_outer.get();
            if (!self.m_inner.valid()) {
                throw std::future_error(std::future_errc::no_state);
            }
        } catch (...) {
            return self.settle([]() -> T { throw; });
        }
        self.notify = on_inner;
        return self.m_inner.state().add_waiter(self) ? nullptr : on_inner(self);
    }
    static state_waiter* on_inner(state_waiter& w) noexcept {
        auto& self = static_cast<flattened_state&>(w);
        return self.settle([&self]() -> T { return self.m_inner.get(); });
    }

    template <class F>
    state_waiter* settle(F&& f) noexcept {
        state_waiter* told = this->settle_from(std::forward<F>(f));
        this->release();
        return told;
    }

    future<future<T>> m_outer;
    future<T> m_inner;
};

template <class T>
state_ref<shared_state<T>> flatten(future<future<T>>&& nested) {
    nested.state();  // throws when there is none
    auto* state = new flattened_state<T>(std::move(nested));
    state_ref<shared_state<T>> result(state);
    state->start();
    return result;
}

}  // namespace quern::detail
