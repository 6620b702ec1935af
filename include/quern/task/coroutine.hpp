// SPDX-License-Identifier: BSL-1.0
// quern::task<T>: a coroutine that begins when it is awaited or started; start() runs one on a
// pool. Coroutines allow very many suspended tasks: each keeps a frame (a few hundred bytes)
// instead of a stack.
#pragma once

#include <quern/task/await.hpp>
#include <quern/task/detail/enough_stack.hpp>
#include <quern/task/detail/task_promise.hpp>

#include <coroutine>
#include <functional>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace quern {

namespace detail {

template <class T>
class task_frame {
public:
    using handle = std::coroutine_handle<task_promise<T>>;

    task_frame() noexcept = default;
    explicit task_frame(handle h) noexcept : m_handle(h) {}
    task_frame(task_frame&& other) noexcept : m_handle(std::exchange(other.m_handle, {})) {}
    task_frame& operator=(task_frame&& other) noexcept {
        task_frame(std::move(other)).swap(*this);
        return *this;
    }
    ~task_frame() {
        if (m_handle) {
            detail::on_enough_stack([this]() noexcept { m_handle.destroy(); });
        }
    }
    void swap(task_frame& other) noexcept { std::swap(m_handle, other.m_handle); }

    handle get() const noexcept { return m_handle; }
    explicit operator bool() const noexcept { return static_cast<bool>(m_handle); }

    /// Before the first run: sets the runner and the parent to notify at the end.
    void begin(coroutine_runner& here, task_parent& parent) const noexcept {
        m_handle.promise().runner = &here;
        m_handle.promise().parent = &parent;
    }

private:
    handle m_handle;
};

/// A coroutine awaits a task: the task runs in its place, then the coroutine is resumed there.
template <class T>
class task_awaiter final : task_parent {
public:
    using sets_runner = void;

    explicit task_awaiter(task_frame<T> awaited) noexcept : m_task(std::move(awaited)) {}

    bool await_ready() const noexcept { return false; }

    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) {
        m_waiting = waiting;
        m_promise = detail::task_promise_of(waiting);
        if (m_promise != nullptr && m_promise->runner != nullptr) {
            m_task.begin(*m_promise->runner, *this);
            m_promise->runner->run_next(m_task.get());
            return true;
        }
        coroutine_runner here;
        m_task.begin(here, *this);
        here.run_next(m_task.get());
        if (!here.run(waiting)) {
            return true;  // it is or will be resumed elsewhere
        }
        if (m_promise != nullptr) {
            m_promise->runner = nullptr;
        }
        return false;
    }

    T await_resume() { return m_task.get().promise().take(); }

private:
    void ended(coroutine_runner& here) noexcept override {
        if (m_promise != nullptr) {
            m_promise->runner = &here;
        }
        here.run_next(m_waiting);
    }

    task_frame<T> m_task;
    std::coroutine_handle<> m_waiting;
    task_promise_base* m_promise = nullptr;
};

/// The state of a future whose result a coroutine delivers.
template <class T>
class started_task final : public shared_state<T>, public runnable, coroutine_root {
public:
    /// Two references: the future's and the coroutine's.
    explicit started_task(task_frame<T> frame, const std::stop_token& stop) noexcept
        : shared_state<T>(
              2,
              [](state_base& self) noexcept {
                  delete static_cast<started_task*>(static_cast<shared_state<T>*>(&self));
              },
              state_base::maker::task),
          runnable(run_queued),
          coroutine_root(stop),
          m_frame(std::move(frame)) {}

private:
    static context* run_queued(work& item) {
        auto& self = static_cast<started_task&>(static_cast<runnable&>(item));
        if (context* larger = detail::begin_task(self)) {
            return larger;
        }
        if (self.stop().asks_by_token()) {
            self.cancel();
            return nullptr;
        }
        coroutine_runner here(self, &self);
        self.m_frame.begin(here, self);
        here.run_next(self.m_frame.get());
        const task_body body(task_body::part_of::first);
        here.run();
        return nullptr;
    }
    void ended(coroutine_runner&) noexcept override {
        if (runs_here()) {
            current_context()->root().task().locals.destroy_all();  // of the last stretch
        }
        state_waiter* told = this->settle_from([this]() -> T {
            const task_frame<T> frame =
                std::move(m_frame);  // destroyed before waiters are notified
            return frame.get().promise().take();
        });
        over(told);
    }
    const void* result() const noexcept override { return static_cast<const state_base*>(this); }

    void cancel() noexcept {
        { const task_frame<T> gone = std::move(m_frame); }  // destroyed before waiters are notified
        over(this->settle_error(detail::cancelled_task(this->name)));
    }

    void over(state_waiter* told) noexcept {
        tell(told);
        if (context* const here = current_context()) {  // null if resumed by foreign code
            this_worker(*here).stats().tasks.add();
        }
        if (runs_here()) {
            current_context()->root().task().stop = nullptr;  // it is destroyed with this state
        }
        this->release();
    }

    /// Whether the calling task is a stretch of these coroutines, not one that foreign code is in.
    bool runs_here() const noexcept {
        context* const here = current_context();
        return here != nullptr && here->root().task().stop == &stop();
    }

    task_frame<T> m_frame;
};

template <class T>
future<T> start_coroutine(const task_attributes& wanted, task<T> coroutine);

}  // namespace detail

/// A coroutine with a result: a value, a reference or nothing. It begins once: when it is awaited,
/// in place of the awaiting coroutine, or when start() runs it on a pool. Movable.
///
/// Inside, co_await takes tasks, futures (await.hpp), the results of co_wait, co_lock, co_receive
/// and so on of the synchronisation types, and every other awaitable. It suspends only the
/// coroutine. get(), lock() and the rest of the runtime work as in any task; they suspend the stack
/// that the coroutine currently runs on.
///
/// After a co_await that suspended, the coroutine is on another stack and perhaps on another
/// thread. So a lock taken by lock() must not be held across it: a mutex identifies its holder by
/// the stack, and unlock() from another one aborts the program. co_await of mutex::co_lock() gives
/// a guard that may be held.
///
/// Depth: a task that awaits a task takes no stack, for any length of the chain, optimisation level
/// and sanitizer, because the runtime resumes coroutines from a loop. Coroutines of other libraries
/// may await a task too. They use as much stack as their own implementation needs, and a fresh
/// stack when it runs low. So does the destruction of tasks that own one another.
///
/// Note: gcc 12 evaluates a co_await in the arm of ?: that was not chosen; write an if.
///
/// Lifetime: the frame keeps parameters that are passed by value until the coroutine has ended. Of
/// a reference it keeps the reference, and of the object whose member it is, such as a lambda with
/// captures, the address. What these refer to must live until the coroutine has ended. A temporary
/// ends with the full expression: after `co_await f(std::string("a"))`, but before the coroutine in
/// `auto r = start(f(std::string("a")))`. So take parameters by value, or let start(f,
/// arguments...) keep f and copies of the arguments. A parameter T&& is a compiler warning. Others
/// are found by clang-tidy (cppcoreguidelines-avoid-reference-coroutine-parameters,
/// cppcoreguidelines-avoid-capturing-lambda-coroutines) and, when they run, by AddressSanitizer.
///
/// A task that was never started, or has ended, may be destroyed. A suspended one is owned by its
/// awaiter or by start(). If what it waits for never comes, its frame is kept.
///
/// Errors: co_await or get() throws an exception that leaves the coroutine.
/// Thread safety: one object must not be used by two threads at once.
/// Cost: one allocation, for the frame; awaiting a task takes 30 ns including it (measured at -O2
/// on a virtual machine). A suspended task and its future take about 400 bytes.
///
///     quern::task<int> twice(int x) { co_return 2 * x; }
///     quern::task<int> four_times(int x) { co_return co_await twice(co_await twice(x)); }
///     int answer = quern::start(four_times(10)).get();
template <class T = void>
class [[nodiscard]] task {
public:
    using promise_type = detail::task_promise<T>;

    task() noexcept = default;

    /// Whether it holds a coroutine that was not awaited or started yet.
    bool valid() const noexcept { return static_cast<bool>(m_frame); }

    /// Runs it in place of the awaiting coroutine. The task is empty afterwards. Throws
    /// std::logic_error if it is empty already.
    friend auto operator co_await(task&& awaited) {
        return detail::task_awaiter<T>(std::move(awaited).release());
    }

    /// For the runtime: releases the frame. Throws as above.
    detail::task_frame<T> release() && {
        if (!m_frame) {
            throw std::logic_error("quern: this task has no coroutine (moved from, or run before)");
        }
        return std::move(m_frame);
    }

private:
    friend promise_type;
    explicit task(detail::task_frame<T> frame) noexcept : m_frame(std::move(frame)) {}

    detail::task_frame<T> m_frame;
};

template <class T>
task<T> detail::task_promise<T>::get_return_object() noexcept {
    return task<T>(task_frame<T>(task_frame<T>::handle::from_promise(*this)));
}
inline task<void> detail::task_promise<void>::get_return_object() noexcept {
    return task<void>(task_frame<void>(task_frame<void>::handle::from_promise(*this)));
}

namespace detail {

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

/// Functions whose result is a task, called with the arguments as rvalues.
template <class F, class... Args>
concept coroutine_function =
    std::is_invocable_v<std::add_lvalue_reference_t<std::decay_t<F>>, std::decay_t<Args>...> &&
    is_task<
        std::invoke_result_t<std::add_lvalue_reference_t<std::decay_t<F>>, std::decay_t<Args>...>>;

/// Keeps the function and its arguments in its own frame.
template <class F, class... Args>
std::invoke_result_t<F&, Args...> keep_and_await(F f, Args... args) {
    co_return co_await std::invoke(f, std::move(args)...);
}

}  // namespace detail

template <class T>
future<T> detail::start_coroutine(const task_attributes& wanted, task<T> coroutine) {
    pool& where = pool_of(wanted);
    auto* state = new started_task<T>(std::move(coroutine).release(), wanted.stop);
    detail::apply_attributes(wanted, *state);
    future<T> result{state_ref<shared_state<T>>(state)};
    where.make_ready(*state);
    return result;
}

/// Runs a coroutine on a pool and returns the future of its result; get() on it is what other
/// libraries call sync_wait. The name is folly's (Task::start). Name, priority and stack of the
/// attributes hold for every resumption. Launch policies do not apply: the coroutine is always
/// queued. Dropping the future does not stop it.
///
/// Errors: get() throws what the coroutine throws, or task_cancelled when the token of the
/// attributes was stopped before it began. Throws std::logic_error for an empty task,
/// std::bad_alloc.
/// Thread safety: any thread. Cost: one allocation in addition to the frame.
///
///     quern::future<int> f = quern::start({.name = "parse"}, parse(file));
template <class T>
QUERN_ALWAYS_INLINE future<T> start(const task_attributes& wanted, task<T> coroutine) {
    return detail::start_coroutine(detail::made_at(detail::code_address(), wanted),
                                   std::move(coroutine));
}
template <class T>
QUERN_ALWAYS_INLINE future<T> start(task<T> coroutine) {
    return quern::start(task_attributes{}, std::move(coroutine));
}
/// Calls f(arguments...), which returns a task, and runs that. Keeps f and copies of the arguments
/// until the coroutine has ended, so they may be temporaries and a lambda may have captures. As
/// with async, std::ref passes a reference. Cost: another frame.
///
///     quern::future<int> f = quern::start(parse, input + ".txt");
template <class F, class... Args>
requires detail::coroutine_function<F, Args...> QUERN_ALWAYS_INLINE auto start(
    const task_attributes& wanted, F&& f, Args&&... arguments) {
    return quern::start(detail::made_at(detail::code_address(), wanted),
                        detail::keep_and_await<std::decay_t<F>, std::decay_t<Args>...>(
                            std::forward<F>(f), std::forward<Args>(arguments)...));
}
template <class F, class... Args>
requires detail::coroutine_function<F, Args...> QUERN_ALWAYS_INLINE auto start(
    F&& f, Args&&... arguments) {
    return quern::start(task_attributes{}, std::forward<F>(f), std::forward<Args>(arguments)...);
}

/// On a given pool, or on the first pool of a given runtime.
template <class T>
QUERN_ALWAYS_INLINE future<T> start(pool_ref where, task<T> coroutine) {
    return quern::start(task_attributes{.pool = &where.get()}, std::move(coroutine));
}
template <class T>
QUERN_ALWAYS_INLINE future<T> start(const runtime& where, task<T> coroutine) {
    return quern::start(where.default_pool(), std::move(coroutine));
}

}  // namespace quern

/// Chooses the promise by the parameters of the coroutine.
template <class T, class... Parameters>
struct std::coroutine_traits<quern::task<T>, Parameters...> {
    using promise_type =
        std::conditional_t<(std::is_rvalue_reference_v<Parameters> || ...),
                           quern::detail::rvalue_promise<T>, quern::detail::task_promise<T>>;
};
