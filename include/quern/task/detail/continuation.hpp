// SPDX-License-Identifier: BSL-1.0
// Reactions to a future that becomes ready: a continuation (then), or the unwrapping of a future of
// a future. Included by future.hpp.
#pragma once

#include <quern/task/detail/pending_call.hpp>
#include <quern/task/future.hpp>

namespace quern::detail {

/// A task that becomes ready when another result does.
template <class Future, class F, class T>
class continuation final : public pending_call<Future, F, T>, public state_waiter {
    using base = pending_call<Future, F, T>;

public:
    template <class G>
    continuation(const task_attributes& how, Future source, G&& f)
        : base(how, std::move(source), std::forward<G>(f),
               [](state_base& self) noexcept {
                   delete static_cast<continuation*>(static_cast<shared_state<T>*>(&self));
               }),
          state_waiter{how.how == launch::sync ? notify_sync : notify_queued, nullptr,
                       how.how == launch::sync || how.how == launch::adaptive} {}

    /// Waits for the source, or continues at once when it is ready.
    void start() noexcept {
        auto& source = this->input().state();
        if (!source.add_waiter(*this)) {
            detail::tell(notify(*this));
        }
    }

private:
    static state_waiter* notify_sync(state_waiter& self) noexcept {
        return static_cast<continuation&>(self).call_here();
    }
    static state_waiter* notify_queued(state_waiter& self) noexcept {
        static_cast<continuation&>(self).queue();
        return nullptr;
    }
};

template <class Future, class F>
auto attach(const task_attributes& how, Future source, F&& f) {
    using function = std::decay_t<F>;
    using T = std::invoke_result_t<function&, Future>;
    const creation_timing making;
    auto* next = new continuation<Future, function, T>(how, std::move(source), std::forward<F>(f));
    future<T> result{state_ref<shared_state<T>>(next)};
    next->start();
    return result;
}

/// Becomes ready when the inner future of a nested future does.
template <class T>
class flattened_state final : public shared_state<T>, public state_waiter {
public:
    explicit flattened_state(future<future<T>>&& outer)
        : shared_state<T>(2, [](state_base& self) noexcept { delete &cast(self); }),
          state_waiter{on_outer},
          m_outer(std::move(outer)) {}

    void start() noexcept {
        if (!m_outer.state().add_waiter(*this)) {
            detail::tell(notify(*this));
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
    nested.state();  // throws if there is none
    auto* state = new flattened_state<T>(std::move(nested));
    state_ref<shared_state<T>> result(state);
    state->start();
    return result;
}

}  // namespace quern::detail
