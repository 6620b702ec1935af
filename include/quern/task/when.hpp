// SPDX-License-Identifier: BSL-1.0
// when_all and when_any: one future for many. As in the Concurrency TS and HPX.
#pragma once

#include <quern/task/join_frame.hpp>

#include <cstddef>
#include <iterator>
#include <tuple>
#include <vector>

namespace quern {

/// The result of when_any: the futures given, and which one became ready first.
template <class Sequence>
struct when_any_result {
    static constexpr std::size_t k_none = static_cast<std::size_t>(-1);
    std::size_t index = k_none;
    Sequence futures;
};

namespace detail {

template <class Sequence>
class when_any_state final : public shared_state<when_any_result<Sequence>> {
    using base = shared_state<when_any_result<Sequence>>;

public:
    /// A reference for the future, one for start(), and one per waiter that is told.
    explicit when_any_state(Sequence&& futures)
        : base(2,
               [](state_base& self) noexcept {
                   delete static_cast<when_any_state*>(static_cast<base*>(&self));
               }),
          m_futures(std::move(futures)),
          m_nodes(count_futures(m_futures)) {}

    void start() noexcept {
        std::size_t index = 0;
        for_each_future(m_futures, [&](auto& f) {
            node& n = m_nodes[index];
            n.notify = told;
            n.owner = this;
            n.index = index++;
            this->add_reference();
            if (!f.state().add_waiter(n)) {
                told(n);  // does not deliver before start() has arrived
            }
        });
        // Until here the sequence was being read; whoever is first may now move it away.
        if (m_nodes.empty()) {
            tell(deliver(when_any_result<Sequence>::k_none));
        } else {
            tell(arrive());
        }
        this->release();
    }

private:
    struct node : state_waiter {
        when_any_state* owner = nullptr;
        std::size_t index = 0;
    };

    static state_waiter* told(state_waiter& w) noexcept {
        auto& n = static_cast<node&>(w);
        when_any_state& self = *n.owner;
        std::size_t none = when_any_result<Sequence>::k_none;
        state_waiter* next = nullptr;
        if (self.m_first.compare_exchange_strong(none, n.index, std::memory_order_relaxed)) {
            next = self.arrive();
        }
        self.release();
        return next;
    }

    /// Two arrivals deliver: the first ready future and the end of start().
    state_waiter* arrive() noexcept {
        return m_arrivals.fetch_add(1, std::memory_order_acq_rel) == 1  // pairs with itself
                   ? deliver(m_first.load(std::memory_order_relaxed))
                   : nullptr;
    }
    state_waiter* deliver(std::size_t index) noexcept {
        return this->settle_from([&] {
            return when_any_result<Sequence>{index, std::move(m_futures)};
        });
    }

    Sequence m_futures;
    std::vector<node> m_nodes;
    std::atomic<std::size_t> m_first{when_any_result<Sequence>::k_none};
    std::atomic<int> m_arrivals{0};
};

template <class Sequence>
auto when_any_of(Sequence futures) {
    auto* state = new when_any_state<Sequence>(std::move(futures));
    future<when_any_result<Sequence>> result{
        state_ref<shared_state<when_any_result<Sequence>>>(state)};
    state->start();
    return result;
}

template <class Sequence>
auto when_all_of(Sequence futures) {
    constexpr bool k_runs_code = false;
    return join_futures(
        task_attributes{.how = launch::sync}, std::move(futures),
        [](Sequence&& ready) { return std::move(ready); }, k_runs_code);
}

}  // namespace detail

/// Ready when all are; its value is the futures themselves, each ready. An exception stays in the
/// future that holds it. Cost: one allocation, and a waiter per future.
template <class... Futures>
    requires(detail::is_future_v<Futures>&&...)
auto when_all(Futures&&... futures) {
    return detail::when_all_of(
        std::tuple<std::decay_t<Futures>...>(std::forward<Futures>(futures)...));
}
template <class Future>
    requires detail::is_future_v<Future>
auto when_all(std::vector<Future> futures) { return detail::when_all_of(std::move(futures)); }
/// Futures of the range are moved away, shared futures copied.
template <std::input_iterator It>
auto when_all(It first, It last) {
    return when_all(detail::take_futures(first, last));
}

/// Ready when the first one is; the value holds all futures and the index of that one. Of an empty
/// sequence: ready at once, index k_none.
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
    return when_any(detail::take_futures(first, last));
}

}  // namespace quern
