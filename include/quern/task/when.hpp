// SPDX-License-Identifier: BSL-1.0
// when_all, when_any and when_some: combine several futures into one. As in the Concurrency TS and
// HPX.
#pragma once

#include <quern/task/detail/enough_stack.hpp>
#include <quern/task/detail/join_frame.hpp>

#include <cstddef>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace quern {

/// The result of when_any: the given futures and the index of the first ready one.
template <class Sequence>
struct when_any_result {
    static constexpr std::size_t k_none = static_cast<std::size_t>(-1);
    std::size_t index = k_none;
    Sequence futures;
};

/// The result of when_some: the given futures and the indices of the first ready ones, in that
/// order.
template <class Sequence>
struct when_some_result {
    std::vector<std::size_t> indices;
    Sequence futures;
};

namespace detail {

/// Ready when `wanted` futures are. `Result` is when_any_result or when_some_result. Leaves the
/// states that are not ready then, and all when the result is dropped before.
template <class Result, class Sequence>
class when_some_state final : public shared_state<Result> {
    using base = shared_state<Result>;

public:
    /// References: one for the future, one for start().
    explicit when_some_state(Sequence&& futures)
        : base(2,
               [](state_base& self) noexcept {
                   static_cast<when_some_state*>(static_cast<base*>(&self))->abandon();
               }),
          m_futures(std::move(futures)),
          m_nodes(detail::count_futures(m_futures)),
          m_users(m_nodes.size() + 1) {}

    std::size_t size() const noexcept { return m_nodes.size(); }

    /// Requires: wanted <= size().
    void start(std::size_t wanted) noexcept {
        m_wanted = wanted;
        m_missing.store(wanted + 1, std::memory_order_relaxed);
        std::size_t index = 0;
        detail::for_each_future(m_futures, [&](auto& f) {
            node& n = m_nodes[index];
            n.notify = told;
            n.owner = this;
            n.index = index++;
            if (!f.state().add_waiter(n)) {
                told(n);  // does not deliver before start() arrives
            }
        });
        detail::tell(arrive());  // the sequence was being read until here; now it may be moved away
        this->release();
    }

private:
    struct node : leaving_waiter {
        when_some_state* owner = nullptr;
        std::size_t index = 0;
        std::size_t nth_ready = 0;  ///< in the node of rank n: the index of the n-th ready future
    };

    static state_waiter* told(state_waiter& w) noexcept {
        auto& n = static_cast<node&>(w);
        when_some_state& self = *n.owner;
        const std::size_t rank = self.m_told.fetch_add(1, std::memory_order_relaxed);
        state_waiter* next = nullptr;
        if (rank < self.m_wanted) {
            self.m_nodes[rank].nth_ready = n.index;
            next = self.arrive();
        }
        self.drop_user();
        return next;
    }

    state_waiter* arrive() noexcept {
        // acq_rel: the last arrival sees what the others have written.
        if (m_missing.fetch_sub(1, std::memory_order_acq_rel) != 1) {
            return nullptr;
        }
        leave_others();
        return this->settle_from([this] { return result(); });
    }

    /// The last reference has gone. Either this or arrive() gets m_missing as the last one.
    void abandon() noexcept {
        // acq_rel: as in arrive().
        if (m_missing.exchange(k_abandoned, std::memory_order_acq_rel) != 0) {
            leave_others();
        }
        drop_user();
    }

    /// Once: leaves the states that are not ready. Requires: all waiters are in their states.
    void leave_others() noexcept {
        std::size_t index = 0;
        detail::for_each_future(m_futures, [&](auto& f) {
            if (f.state().remove_waiter(m_nodes[index++])) {
                drop_user();  // this waiter; the caller is another one
            }
        });
    }

    void drop_user() noexcept {
        // acq_rel: the last one sees the effects of all others.
        if (m_users.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            detail::on_enough_stack([this]() noexcept { delete this; });
        }
    }

    Result result() {
        if constexpr (std::is_same_v<Result, when_any_result<Sequence>>) {
            return {m_wanted == 0 ? Result::k_none : m_nodes.front().nth_ready,
                    std::move(m_futures)};
        } else {
            std::vector<std::size_t> indices(m_wanted);
            for (std::size_t rank = 0; rank < m_wanted; ++rank) {
                indices[rank] = m_nodes[rank].nth_ready;
            }
            return {std::move(indices), std::move(m_futures)};
        }
    }

    /// Of m_missing: no number of arrivals makes it 0.
    static constexpr std::size_t k_abandoned = static_cast<std::size_t>(-1);

    Sequence m_futures;
    std::vector<node> m_nodes;
    std::size_t m_wanted = 0;
    std::atomic<std::size_t> m_told{0};
    std::atomic<std::size_t> m_missing{0};  ///< the wanted ones, plus start()
    /// Waiters that have not been notified and have not left, plus one for all references.
    std::atomic<std::size_t> m_users;
};

template <class Sequence>
auto when_any_of(Sequence futures) {
    using result = when_any_result<Sequence>;
    auto* state = new when_some_state<result, Sequence>(std::move(futures));
    future<result> first{state_ref<shared_state<result>>(state)};
    state->start(state->size() == 0 ? 0 : 1);
    return first;
}

template <class Sequence>
auto when_some_of(std::size_t wanted, Sequence futures) {
    using result = when_some_result<Sequence>;
    auto state = std::make_unique<when_some_state<result, Sequence>>(std::move(futures));
    if (wanted > state->size()) {
        throw std::invalid_argument("quern: when_some() was asked for " + std::to_string(wanted) +
                                    " of " + std::to_string(state->size()) + " futures");
    }
    auto& started = *state;
    future<result> some{state_ref<shared_state<result>>(state.release())};
    started.start(wanted);
    return some;
}

template <class Sequence>
auto when_all_of(Sequence futures) {
    constexpr bool k_runs_code = false;
    const creation_timing making;
    const auto give_back = [](Sequence&& ready) { return std::move(ready); };
    return detail::join_futures<std::decay_t<decltype(give_back)>>(
        task_attributes{.how = launch::sync}, std::move(futures), give_back, k_runs_code);
}

}  // namespace detail

/// Ready when all are. Its value is the futures themselves, each ready. An exception stays in its
/// future. Cost: one allocation, and a waiter per future.
template <class... Futures>
    requires(detail::is_future_v<Futures>&&...)
auto when_all(Futures&&... futures) {
    return detail::when_all_of(
        std::tuple<std::decay_t<Futures>...>(std::forward<Futures>(futures)...));
}
template <class Future>
    requires detail::is_future_v<Future>
auto when_all(std::vector<Future> futures) { return detail::when_all_of(std::move(futures)); }
/// Futures of the range are moved from, shared futures copied.
template <std::input_iterator It>
auto when_all(It first, It last) {
    return quern::when_all(detail::take_futures(first, last));
}

/// Ready when the first one is. Its value holds all futures and the index of that one. Empty
/// sequence: ready at once, index k_none. Nothing is kept for the other futures then, nor when the
/// result is dropped before: when_any may be called any number of times with a future that becomes
/// ready much later.
template <class... Futures>
    requires(detail::is_future_v<Futures>&&...)
auto when_any(Futures&&... futures) {
    return detail::when_any_of(
        std::tuple<std::decay_t<Futures>...>(std::forward<Futures>(futures)...));
}
template <class Future>
    requires detail::is_future_v<Future>
auto when_any(std::vector<Future> futures) { return detail::when_any_of(std::move(futures)); }
template <std::input_iterator It>
auto when_any(It first, It last) {
    return quern::when_any(detail::take_futures(first, last));
}

/// Ready when `count` of them are. Its value holds all futures and the indices of those, in the
/// order in which they became ready. As in HPX. A future with an exception counts as ready; the
/// exception stays in it. Throws std::invalid_argument if there are fewer futures; these are lost
/// then.
///
/// Thread safety: any thread. Cost: one allocation, and a waiter per future, which is taken out of
/// those that are not ready in the end.
///
///     auto some = quern::when_some(2, std::move(replicas)).get();
///     vote(some.futures[some.indices[0]].get(), some.futures[some.indices[1]].get());
template <class... Futures>
    requires(detail::is_future_v<Futures>&&...)
auto when_some(std::size_t count, Futures&&... futures) {
    return detail::when_some_of(
        count, std::tuple<std::decay_t<Futures>...>(std::forward<Futures>(futures)...));
}
template <class Future>
    requires detail::is_future_v<Future>
auto when_some(std::size_t count, std::vector<Future> futures) {
    return detail::when_some_of(count, std::move(futures));
}
template <std::input_iterator It>
auto when_some(std::size_t count, It first, It last) {
    return quern::when_some(count, detail::take_futures(first, last));
}

}  // namespace quern
