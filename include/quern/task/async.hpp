// SPDX-License-Identifier: BSL-1.0
// async and post: start a task, with or without a future of its result.
#pragma once

#include <quern/base/blocks.hpp>
#include <quern/task/future.hpp>
#include <quern/task/task_state.hpp>

#include <functional>
#include <tuple>
#include <type_traits>

namespace quern {

namespace detail {

/// A function and its arguments, bound by value as std::async does.
template <class F, class... Args>
auto bind_call(F&& f, Args&&... args) {
    if constexpr (sizeof...(Args) == 0) {
        return std::decay_t<F>(std::forward<F>(f));
    } else {
        return [f = std::decay_t<F>(std::forward<F>(f)),
                bound = std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...)]() mutable
               -> decltype(auto) { return std::apply(std::move(f), std::move(bound)); };
    }
}

/// Starts a task in the way its attributes ask for. The state's second reference is the queue's.
template <class Task>
void start(const task_attributes& wanted, pool& where, Task& task) noexcept {
    worker* here = current_worker();
    switch (wanted.how) {
        case launch::sync: {
            task.begin(false);
            task.release();
            return;
        }
        case launch::deferred:
            task.allow_waiter_to_begin(nullptr);
            task.start_when_watched();
            task.release();
            return;
        case launch::fork:
            if (here != nullptr && &here->home() == &where) {
                run_before_self(task);
                return;
            }
            break;  // another pool has no creator to take the place of
        case launch::async:
            break;
    }
    task.allow_waiter_to_begin(&where);
    where.make_ready(task);
}

/// A task without a result.
template <class F>
class posted_task final : public runnable, public in_blocks {
public:
    posted_task(F&& f, const std::stop_token& stop)
        : runnable(run_queued), m_stop(stop), m_function(std::move(f)) {}

private:
    static context* run_queued(work& item) noexcept {
        auto& self = static_cast<posted_task&>(static_cast<runnable&>(item));
        if (context* larger = begin_task(self)) {
            return larger;
        }
        self.call();
        delete &self;
        count_task();
        return nullptr;
    }

    /// An exception ends the program where it was thrown, so that a debugger and a crash report see
    /// the calls. That takes two functions: no frame that would have to be cleaned up may lie
    /// between, and none that ends the program may catch as well.
    QUERN_NOINLINE static void call_or_end(F& function) noexcept { call_but_for_stops(function); }
    QUERN_NOINLINE static void call_but_for_stops(F& function) {
        try {
            function();
        } catch (const task_cancelled&) {  // never reported
        }
    }

    void call() noexcept {
        const stop_signal own(std::move(m_stop));
        if (own.asks_by_token()) {
            return;
        }
        const under_signal running(own.if_token());
        if (get_exception_handler() == nullptr) {
            call_or_end(m_function);
            return;
        }
        try {
            m_function();
        } catch (...) {
            report_exception(std::current_exception(), exception_origin::posted_task);
        }
    }

    std::stop_token m_stop;
    F m_function;
};

template <class F, class... Args>
auto start_async(const task_attributes& wanted, F&& f, Args&&... args) {
    pool& where = pool_of(wanted);  // may start the default runtime, and throw
    describing making;
    auto call = bind_call(std::forward<F>(f), std::forward<Args>(args)...);
    using T = std::invoke_result_t<decltype(call)&>;
    using task = task_state<decltype(call), T>;
    auto* state = new task(std::move(call), wanted.stop);
    apply_attributes(wanted, *state);
    future<T> result{state_ref<shared_state<T>>(state)};
    making.end_before_call(wanted.how);
    start(wanted, where, *state);
    return result;
}

template <class F, class... Args>
void start_posted(const task_attributes& wanted, F&& f, Args&&... args) {
    pool& where = pool_of(wanted);  // may start the default runtime, and throw
    const describing making;
    auto call = bind_call(std::forward<F>(f), std::forward<Args>(args)...);
    auto* task = new posted_task<decltype(call)>(std::move(call), wanted.stop);
    apply_attributes(wanted, *task);
    where.make_ready(*task);
}

}  // namespace detail

/// Starts f(args...) as a task and returns the future of its result. Function and arguments are
/// copied or moved into the task, as with std::async; unlike there, the destructor of the future
/// does not wait.
///
/// Errors: what f throws comes out of get(); task_cancelled when the token of the attributes was
/// stopped before the task had begun. Throws std::bad_alloc. A task that changes the
/// floating-point environment (rounding, traps) must restore it: the next one on its stack gets it.
/// Thread safety: any thread. Outside a worker the default runtime runs it.
/// Cost: one allocation, a push, a pop: 40-50 ns with get() where it is waited for.
///
///     auto f = quern::async([](int a, int b) { return a + b; }, 40, 2);
///     int answer = f.get();
template <class F, class... Args>
QUERN_ALWAYS_INLINE auto async(const task_attributes& wanted, F&& f, Args&&... args) {
    return detail::start_async(detail::made_at(detail::code_address(), wanted), std::forward<F>(f),
                               std::forward<Args>(args)...);
}

template <class F, class... Args>
    requires std::is_invocable_v < std::decay_t<F>
&, std::decay_t<Args>&&... > QUERN_ALWAYS_INLINE auto async(F&& f, Args&&... args) {
    return async(task_attributes{}, std::forward<F>(f), std::forward<Args>(args)...);
}

template <class F, class... Args>
QUERN_ALWAYS_INLINE auto async(launch how, F&& f, Args&&... args) {
    return async(task_attributes{.how = how}, std::forward<F>(f), std::forward<Args>(args)...);
}

/// On a given pool, or on the first pool of a given runtime.
template <class F, class... Args>
QUERN_ALWAYS_INLINE auto async(pool_ref where, F&& f, Args&&... args) {
    return async(task_attributes{.pool = &where.get()}, std::forward<F>(f),
                 std::forward<Args>(args)...);
}

template <class F, class... Args>
QUERN_ALWAYS_INLINE auto async(const runtime& where, F&& f, Args&&... args) {
    return async(where.default_pool(), std::forward<F>(f), std::forward<Args>(args)...);
}

/// Starts f(args...) as a task that nobody waits for. An exception that leaves it goes to the
/// handler (exceptions.hpp), and ends the program if there is none. Otherwise as async; launch
/// policies do not apply.
template <class F, class... Args>
QUERN_ALWAYS_INLINE void post(const task_attributes& wanted, F&& f, Args&&... args) {
    detail::start_posted(detail::made_at(detail::code_address(), wanted), std::forward<F>(f),
                         std::forward<Args>(args)...);
}

template <class F, class... Args>
    requires std::is_invocable_v < std::decay_t<F>
&, std::decay_t<Args>&&... > QUERN_ALWAYS_INLINE void post(F&& f, Args&&... args) {
    post(task_attributes{}, std::forward<F>(f), std::forward<Args>(args)...);
}

}  // namespace quern
