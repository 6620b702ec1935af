// SPDX-License-Identifier: BSL-1.0
// async and post: start a task, with or without a future of its result.
#pragma once

#include <quern/task/detail/posted_task.hpp>
#include <quern/task/detail/task_state.hpp>
#include <quern/task/future.hpp>

#include <functional>
#include <tuple>
#include <type_traits>

namespace quern {

namespace detail {

/// A function with its arguments. Each part is copied or moved once, from the caller into the task.
/// Called once.
template <class F, class... Args>
class bound_call {
public:
    template <class G, class... Given>
        requires(sizeof...(Given) == sizeof...(Args))
    explicit bound_call(G&& function, Given&&... arguments)
        : m_function(std::forward<G>(function)), m_arguments(std::forward<Given>(arguments)...) {}

    decltype(auto) operator()() {
        return std::apply(std::move(m_function), std::move(m_arguments));
    }

private:
    F m_function;
    std::tuple<Args...> m_arguments;
};

template <class F, class... Args>
struct bound_type {
    using type = bound_call<F, Args...>;
};
template <class F>
struct bound_type<F> {
    using type = F;
};
/// What a task keeps of f(args...), by value as std::async does. Constructed from the same parts.
template <class F, class... Args>
using bound_t = typename bound_type<std::decay_t<F>, std::decay_t<Args>...>::type;

/// Whether the kept function can be called with the kept arguments.
template <class F, class... Args>
inline constexpr bool k_is_call = sizeof...(Args) == 0
                                      ? std::is_invocable_v<std::decay_t<F>&>
                                      : std::is_invocable_v<std::decay_t<F>, std::decay_t<Args>...>;

template <class F, class... Args>
concept callable_with_copies =
    std::is_invocable_v<std::add_lvalue_reference_t<std::decay_t<F>>, std::decay_t<Args>...>;

/// A call that fails only because the function takes a reference to what the task keeps a copy of.
/// Not asked of one that fits: a generic function might not compile with references.
template <class F, class... Args>
inline constexpr bool k_needs_ref =
    std::conjunction_v<std::bool_constant<!k_is_call<F, Args...>>,
                       std::is_invocable<std::decay_t<F>&, std::decay_t<Args>&...>>;

/// What async takes before the function.
template <class F>
inline constexpr bool k_says_how =
    std::is_convertible_v<F, const task_attributes&> || std::is_convertible_v<F, launch> ||
    std::is_convertible_v<F, pool_ref> || std::is_convertible_v<F, const runtime&>;

/// The bound call as an object, for callers that pass it on instead of storing it in a task at
/// once.
template <class F, class... Args>
auto bind_call(F&& f, Args&&... args) {
    return bound_t<F, Args...>(std::forward<F>(f), std::forward<Args>(args)...);
}

/// The pool of tasks that do not name one. May start the default runtime, and throw.
inline pool& usual_pool() {
    worker* const here = current_worker();
    return here != nullptr ? here->home() : current_pool().get();
}

/// Starts a task that runs a Call, constructed from the parts in the task's memory.
template <class Call, class... Parts>
auto start_task(const task_attributes& wanted, Parts&&... parts) {
    pool& where = pool_of(wanted);
    using T = std::invoke_result_t<Call>;
    auto* state = new task_state<Call, T>(wanted.stop, std::forward<Parts>(parts)...);
    detail::apply_attributes(wanted, *state);
    future<T> result{state_ref<shared_state<T>>(state)};
    state->start(wanted, where);
    return result;
}

template <class F, class... Args>
auto start_async(const task_attributes& wanted, F&& f, Args&&... args) {
    return detail::start_task<bound_t<F, Args...>>(wanted, std::forward<F>(f),
                                                   std::forward<Args>(args)...);
}

template <class F, class... Args>
void start_posted(const task_attributes& wanted, F&& f, Args&&... args) {
    pool& where = pool_of(wanted);
    auto* task = new posted_task<bound_t<F, Args...>, std::stop_token>(
        wanted.stop, std::forward<F>(f), std::forward<Args>(args)...);
    detail::apply_attributes(wanted, *task);
    if (wanted.communication) [[unlikely]] {
        where.make_communication_ready(*task);
    } else {
        where.make_ready(*task);
    }
}

/// Tasks without attributes. Filling in task_attributes would take longer than the rest of a tiny
/// task. `is_child`: as with launch::adaptive.
template <class F, class... Args>
auto start_usual(const void* site, bool is_child, F&& f, Args&&... args) {
    using call = bound_t<F, Args...>;
    using T = std::invoke_result_t<call>;
    pool& where = detail::usual_pool();
    auto* state = new task_state<call, T, no_token>(no_token(), std::forward<F>(f),
                                                    std::forward<Args>(args)...);
    state->site = site;
    future<T> result{state_ref<shared_state<T>>(state)};
    state->start_usual(is_child, where);
    return result;
}

template <class F, class... Args>
void start_usual_posted(const void* site, F&& f, Args&&... args) {
    pool& where = detail::usual_pool();
    auto* task = new posted_task<bound_t<F, Args...>, no_token>(no_token(), std::forward<F>(f),
                                                                std::forward<Args>(args)...);
    task->site = site;
    where.make_ready(*task);
}

}  // namespace detail

/// Starts f(args...) as a task and returns the future of its result. Function and arguments are
/// copied or moved into the task, as with std::async, and destroyed before the result is known:
/// when get() returns, nothing of the task is left. Unlike std::async, the destructor of the future
/// does not wait.
///
/// Errors: get() throws what f throws, or task_cancelled when the token of the attributes was
/// stopped before the task began. Throws std::bad_alloc. A task that changes the floating-point
/// environment (rounding, traps) must restore it: the next task on the same stack inherits it.
/// Thread safety: any thread. Outside a worker the default runtime runs it.
/// Cost: one allocation, a push and a pop: 24-40 ns including get() if the waiter runs it.
///
///     auto f = quern::async([](int a, int b) { return a + b; }, 40, 2);
///     int answer = f.get();
template <class F, class... Args>
QUERN_ALWAYS_INLINE auto async(const task_attributes& wanted, F&& f, Args&&... args) {
    static_assert(!detail::k_needs_ref<F, Args...>,
                  "quern: async: the function takes a reference, but the task keeps copies of its "
                  "arguments: pass std::ref(x)");
    static_assert(detail::k_is_call<F, Args...> || detail::k_needs_ref<F, Args...>,
                  "quern: async: the function cannot be called with these arguments");
    if constexpr (detail::k_is_call<F, Args...>) {
        const detail::creation_timing making;
        return detail::start_async(detail::queued_at(detail::code_address(), wanted),
                                   std::forward<F>(f), std::forward<Args>(args)...);
    } else {
        return future<void>();
    }
}

template <class F, class... Args>
requires detail::callable_with_copies<F, Args...> QUERN_ALWAYS_INLINE auto async(F&& f,
                                                                                 Args&&... args) {
    const detail::creation_timing making;
    return detail::start_usual(detail::code_address(), detail::decides_always(), std::forward<F>(f),
                               std::forward<Args>(args)...);
}

/// A call that does not fit: never compiles, and says why in one sentence.
template <class F, class... Args>
    requires(!detail::k_says_how<F> && !detail::k_is_call<F, Args...>)
future<void> async(F&& f, Args&&... args) {
    return quern::async(task_attributes{}, std::forward<F>(f), std::forward<Args>(args)...);
}

template <class F, class... Args>
QUERN_ALWAYS_INLINE auto async(launch how, F&& f, Args&&... args) {
    if constexpr (detail::k_is_call<F, Args...>) {
        if (how == launch::adaptive) {
            const detail::creation_timing making;
            return detail::start_usual(detail::code_address(), true, std::forward<F>(f),
                                       std::forward<Args>(args)...);
        }
    }
    return quern::async(task_attributes{.how = how}, std::forward<F>(f),
                        std::forward<Args>(args)...);
}

/// On a given pool, or on the first pool of a given runtime.
template <class F, class... Args>
QUERN_ALWAYS_INLINE auto async(pool_ref where, F&& f, Args&&... args) {
    return quern::async(task_attributes{.pool = &where.get()}, std::forward<F>(f),
                        std::forward<Args>(args)...);
}

template <class F, class... Args>
QUERN_ALWAYS_INLINE auto async(const runtime& where, F&& f, Args&&... args) {
    return quern::async(where.default_pool(), std::forward<F>(f), std::forward<Args>(args)...);
}

/// Starts f(args...) as a task without a future. An exception that leaves it goes to the handler
/// (exceptions.hpp), and ends the program if there is none. Otherwise as async; launch policies do
/// not apply.
template <class F, class... Args>
QUERN_ALWAYS_INLINE void post(const task_attributes& wanted, F&& f, Args&&... args) {
    static_assert(!detail::k_needs_ref<F, Args...>,
                  "quern: post: the function takes a reference, but the task keeps copies of its "
                  "arguments: pass std::ref(x)");
    static_assert(detail::k_is_call<F, Args...> || detail::k_needs_ref<F, Args...>,
                  "quern: post: the function cannot be called with these arguments");
    if constexpr (detail::k_is_call<F, Args...>) {
        const detail::creation_timing making;
        detail::start_posted(detail::queued_at(detail::code_address(), wanted), std::forward<F>(f),
                             std::forward<Args>(args)...);
    }
}

template <class F, class... Args>
requires detail::callable_with_copies<F, Args...> QUERN_ALWAYS_INLINE void post(F&& f,
                                                                                Args&&... args) {
    const detail::creation_timing making;
    detail::start_usual_posted(detail::code_address(), std::forward<F>(f),
                               std::forward<Args>(args)...);
}

/// A call that does not fit: never compiles, and says why in one sentence.
template <class F, class... Args>
    requires(!std::is_convertible_v<F, const task_attributes&> && !detail::k_is_call<F, Args...>)
void post(F&& f, Args&&... args) {
    quern::post(task_attributes{}, std::forward<F>(f), std::forward<Args>(args)...);
}

}  // namespace quern
