// SPDX-License-Identifier: BSL-1.0
// when_each: calls a function with each of many futures as it becomes ready. As in HPX.
#pragma once

#include <quern/task/detail/join_frame.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace quern {

namespace detail {

/// Ready futures are in a list. The first one that is added to an idle list queues the state. Its
/// run calls the function for all entries until the list is empty.
template <class F, class Sequence>
class when_each_state final : public shared_state<void>, public runnable {
public:
    /// References: one for the future, one for start(), one per waiter to be notified.
    when_each_state(pool& where, const void* made_at, F&& f, Sequence&& futures)
        : shared_state<void>(2, [](state_base& self) noexcept { delete &cast(self); }),
          runnable(run_queued),
          m_pool(where),
          m_function(std::move(f)),
          m_futures(std::move(futures)),
          m_nodes(detail::count_futures(m_futures)),
          m_left(m_nodes.size()) {
        site = made_at;
    }

    void start() noexcept {
        if (m_nodes.empty()) {
            settle([] {});
        }
        std::size_t index = 0;
        detail::for_each_future(m_futures, [&](auto& f) {
            node& n = m_nodes[index];
            n.notify = told;
            n.owner = this;
            n.index = index++;
            n.source = &f;
            n.call = call<std::remove_reference_t<decltype(f)>>;
            this->add_reference();
            if (!f.state().add_waiter(n)) {
                told(n);
            }
        });
        leave_others();
        this->release();
    }

private:
    struct node : leaving_waiter {
        when_each_state* owner = nullptr;
        std::size_t index = 0;
        void* source = nullptr;
        void (*call)(F& f, node& n) = nullptr;
    };

    static when_each_state& cast(state_base& self) noexcept {
        return static_cast<when_each_state&>(static_cast<shared_state<void>&>(self));
    }

    template <class Future>
    static void call(F& f, node& n) {
        Future ready = std::move(*static_cast<Future*>(n.source));
        if constexpr (std::is_invocable_v<F&, std::size_t, Future>) {
            f(n.index, std::move(ready));
        } else {
            f(std::move(ready));
        }
    }

    static state_waiter* told(state_waiter& w) noexcept {
        when_each_state& self = *static_cast<node&>(w).owner;
        std::uintptr_t seen = self.m_ready.load(std::memory_order_relaxed);
        do {
            w.next = seen == k_running ? nullptr : reinterpret_cast<state_waiter*>(seen);
        } while (!self.m_ready.compare_exchange_weak(
            seen, reinterpret_cast<std::uintptr_t>(&w),
            std::memory_order_acq_rel,  // release: pairs with take; acquire: with stop
            std::memory_order_relaxed));
        if (seen == k_idle) {  // otherwise a running worker owns the node, which may be destroyed
            self.m_pool.make_ready(self);
        }
        return nullptr;
    }

    static context* run_queued(work& item) {
        auto& self = static_cast<when_each_state&>(static_cast<runnable&>(item));
        return detail::run_from_queue(
            self,
            [&self] {
                self.add_reference();  // those of the nodes are dropped one by one
                do {
                    self.visit(self.take());
                } while (!self.stop());
                self.release();
            },
            [] {});
    }

    /// The entries that have become ready, oldest first.
    state_waiter* take() noexcept {
        auto* youngest_first = reinterpret_cast<state_waiter*>(
            m_ready.exchange(k_running, std::memory_order_acquire));  // pairs with told
        state_waiter* oldest_first = nullptr;
        while (youngest_first != nullptr) {
            state_waiter* w = std::exchange(youngest_first, youngest_first->next);
            w->next = std::exchange(oldest_first, w);
        }
        return oldest_first;
    }

    /// False: more entries have been added.
    bool stop() noexcept {
        std::uintptr_t running = k_running;
        return m_ready.compare_exchange_strong(running, k_idle,
                                               std::memory_order_release,  // pairs with told
                                               std::memory_order_relaxed);
    }

    void visit(state_waiter* chain) noexcept {
        while (chain != nullptr) {
            auto& n = static_cast<node&>(*std::exchange(chain, chain->next));
            --m_left;
            if (m_function) {
                visit(n);
            }
            this->release();
        }
    }

    void visit(node& n) noexcept {
        try {
            const task_body body(task_body::part_of::task);
            n.call(*m_function, n);
        } catch (...) {
            settle([] { throw; });
            leave_others();
            return;
        }
        if (m_left == 0) {
            settle([] {});
        }
    }

    /// When the function has thrown and all waiters are in their states, whichever is later: leaves
    /// the states that are not ready. Futures that the function was called with are gone.
    void leave_others() noexcept {
        // acq_rel: the later one sees what the other has written.
        if (m_until_left.fetch_sub(1, std::memory_order_acq_rel) != 1) {
            return;
        }
        std::size_t index = 0;
        detail::for_each_future(m_futures, [&](auto& f) {
            node& n = m_nodes[index++];
            if (f.valid() && f.state().remove_waiter(n)) {
                this->release();  // in the waiter's place
            }
        });
    }

    template <class Outcome>
    void settle(Outcome&& outcome) noexcept {
        m_function.reset();  // before the result is known
        detail::tell(this->settle_from(outcome));
    }

    static constexpr std::uintptr_t k_idle = 0;
    static constexpr std::uintptr_t k_running = 1;

    pool& m_pool;
    std::optional<F> m_function;  ///< empty as soon as it will not be called again
    Sequence m_futures;
    std::vector<node> m_nodes;
    std::size_t m_left;
    std::atomic<int> m_until_left{2};  ///< an exception of the function, and start()
    /// k_idle, k_running (being visited, no new entries), or the youngest ready node.
    std::atomic<std::uintptr_t> m_ready{k_idle};
};

template <class F, class Sequence>
future<void> when_each_of(const void* site, F f, Sequence futures) {
    auto* state = new when_each_state<F, Sequence>(current_pool().get(), site, std::move(f),
                                                   std::move(futures));
    future<void> all{state_ref<shared_state<void>>(state)};
    state->start();
    return all;
}

}  // namespace detail

/// Calls f(future), or f(index, future) if f takes that, with each of the futures as it becomes
/// ready. Calls are sequential, in the order in which the futures became ready, in tasks of the
/// caller's pool. So f needs no lock; while one call waits, the others wait too. Ready when all
/// calls have returned.
///
/// Errors: the future gets the first exception that leaves f at once; f is not called again, and
/// futures that are not ready are no longer waited for. f handles exceptions held by the futures.
/// Throws std::future_error(no_state), std::bad_alloc. Thread safety: any thread. Cost: one
/// allocation and a waiter per future.
///
///     quern::when_each([&](auto part) { total += part.get(); }, std::move(parts)).get();
template <class F, class... Futures>
    requires(detail::is_future_v<Futures>&&...)
QUERN_ALWAYS_INLINE future<void> when_each(F&& f, Futures&&... futures) {
    return detail::when_each_of(
        detail::code_address(), std::decay_t<F>(std::forward<F>(f)),
        std::tuple<std::decay_t<Futures>...>(std::forward<Futures>(futures)...));
}
template <class F, class Future>
    requires detail::is_future_v<Future> QUERN_ALWAYS_INLINE future<void> when_each(
        F&& f, std::vector<Future> futures) {
        return detail::when_each_of(detail::code_address(), std::decay_t<F>(std::forward<F>(f)),
                                    std::move(futures));
    }
/// Futures of the range are moved from, shared futures copied.
template <class F, std::input_iterator It>
QUERN_ALWAYS_INLINE future<void> when_each(F&& f, It first, It last) {
    return quern::when_each(std::forward<F>(f), detail::take_futures(first, last));
}

}  // namespace quern
