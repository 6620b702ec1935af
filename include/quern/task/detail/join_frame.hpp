// SPDX-License-Identifier: BSL-1.0
// A function that is called when several futures are ready; the base of dataflow and when_all. The
// futures, a waiter for each, the function and the state of its result are one object.
#pragma once

#include <quern/task/detail/pending_call.hpp>
#include <quern/task/future.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern::detail {

template <class A>
concept sequence_type = requires(A& a) {
    typename A::value_type;
    requires !std::is_same_v<typename A::value_type, A>;
    a.begin();
    a.end();
};

/// Whether an argument holds futures: it is one, or a sequence, tuple or std::ref of such, at any
/// nesting.
template <class A>
struct holds_futures : std::false_type {};
template <class A>
    requires is_future_v<A>
struct holds_futures<A> : std::true_type {
};
template <class A>
    requires sequence_type<A>
struct holds_futures<A> : holds_futures<typename A::value_type> {
};
template <class... Elements>
struct holds_futures<std::tuple<Elements...>> : std::disjunction<holds_futures<Elements>...> {};
template <class First, class Second>
struct holds_futures<std::pair<First, Second>>
    : std::disjunction<holds_futures<First>, holds_futures<Second>> {};
template <class A>
struct holds_futures<std::reference_wrapper<A>> : holds_futures<std::remove_cv_t<A>> {};

/// The number of futures in an argument, if its type says so: not for a sequence.
template <class A>
struct futures_in {
    static constexpr bool k_known = is_future_v<A> || !holds_futures<A>::value;
    static constexpr std::size_t k_count = is_future_v<A> ? 1 : 0;
};
template <class... Elements>
struct futures_in<std::tuple<Elements...>> {
    static constexpr bool k_known = (futures_in<Elements>::k_known && ...);
    static constexpr std::size_t k_count = (futures_in<Elements>::k_count + ... + 0);
};
template <class First, class Second>
struct futures_in<std::pair<First, Second>> : futures_in<std::tuple<First, Second>> {};
template <class A>
struct futures_in<std::reference_wrapper<A>> : futures_in<std::remove_cv_t<A>> {};

template <class A>
struct is_reference_wrapper : std::false_type {};
template <class A>
struct is_reference_wrapper<std::reference_wrapper<A>> : std::true_type {};

template <class Argument, class Visit>
void for_each_future(Argument& argument, Visit&& visit) {
    using A = std::remove_cv_t<Argument>;
    if constexpr (is_future_v<A>) {
        visit(argument);
    } else if constexpr (!holds_futures<A>::value) {
        return;
    } else if constexpr (is_reference_wrapper<A>::value) {
        detail::for_each_future(argument.get(), visit);
    } else if constexpr (sequence_type<Argument>) {
        for (auto& element : argument) {
            detail::for_each_future(element, visit);
        }
    } else {
        std::apply([&](auto&... each) { (detail::for_each_future(each, visit), ...); }, argument);
    }
}

template <class Argument>
std::size_t count_futures(Argument& argument) {
    std::size_t count = 0;
    detail::for_each_future(argument, [&count](auto& f) {
        f.state();  // throws if there is none
        ++count;
    });
    return count;
}

template <class It>
auto take_futures(It first, It last) {
    using future_type = typename std::iterator_traits<It>::value_type;
    std::vector<future_type> futures;
    for (; first != last; ++first) {
        if constexpr (std::is_copy_constructible_v<future_type>) {
            futures.push_back(*first);
        } else {
            futures.push_back(std::move(*first));
        }
    }
    return futures;
}

/// `F` is called with the arguments moved in.
template <class F, class Arguments, class T>
class join_frame final : public pending_call<Arguments, F, T> {
    using base = pending_call<Arguments, F, T>;

public:
    /// `runs_code`: whether `f`, if called in place, may run code that waits.
    template <class G>
    join_frame(const task_attributes& how, G&& f, Arguments&& arguments, bool runs_code)
        : base(how, std::move(arguments), std::forward<G>(f),
               [](state_base& self) noexcept {
                   delete static_cast<join_frame*>(static_cast<shared_state<T>*>(&self));
               }),
          m_inline(how.how == launch::sync),
          m_runs_code((m_inline || how.how == launch::adaptive) && runs_code) {
        const std::size_t count = detail::count_futures(this->input());
        if constexpr (!futures_in<Arguments>::k_known) {
            m_nodes = std::vector<node>(count);
        }
    }

    /// Waits for all futures; may finish at once.
    void start() noexcept {
        m_missing.store(m_nodes.size() + 1, std::memory_order_relaxed);
        std::size_t index = 0;
        detail::for_each_future(this->input(), [&](auto& f) {
            node& n = m_nodes[index++];
            n.notify = told;
            n.runs_code = m_runs_code;
            n.owner = this;
            if (!f.state().add_waiter(n)) {
                arrive();  // not the last: this function has yet to arrive
            }
        });
        detail::tell(
            arrive());  // arrives itself: the arguments are not touched while they are being read
    }

private:
    struct node : state_waiter {
        join_frame* owner = nullptr;
    };

    static state_waiter* told(state_waiter& w) noexcept {
        return static_cast<node&>(w).owner->arrive();
    }

    state_waiter* arrive() noexcept {
        // acq_rel: the last one sees the results of all others.
        if (m_missing.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            if (m_inline) {
                return this->call_here();
            }
            this->queue();
        }
        return nullptr;
    }

    const bool m_inline;
    const bool m_runs_code;
    std::conditional_t<futures_in<Arguments>::k_known,
                       std::array<node, futures_in<Arguments>::k_count>, std::vector<node>>
        m_nodes;
    std::atomic<std::size_t> m_missing{0};
};

/// The future of a Call(arguments), which is called when every future in them is ready. Call is
/// constructed from `f`.
template <class Call, class Arguments, class F>
auto join_futures(const task_attributes& how, Arguments arguments, F&& f, bool runs_code = true) {
    using T = std::invoke_result_t<Call&, Arguments&&>;
    auto* frame = new join_frame<Call, Arguments, T>(how, std::forward<F>(f), std::move(arguments),
                                                     runs_code);
    future<T> result{state_ref<shared_state<T>>(frame)};
    frame->start();
    return result;
}

}  // namespace quern::detail
