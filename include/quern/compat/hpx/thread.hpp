// SPDX-License-Identifier: BSL-1.0
// hpx::thread and jthread, and hpx::this_thread: Quern's, with interruption and HPX's errors.
#pragma once

#include <quern/compat/hpx/async.hpp>
#include <quern/compat/hpx/interruption.hpp>
#include <quern/task/jthread.hpp>
#include <quern/task/this_task.hpp>
#include <quern/task/thread.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace hpx {

namespace threads {
/// One number names a thread everywhere.
using thread_id_type = quern::thread::id;
using thread_id = quern::thread::id;
using thread_id_ref_type = quern::thread::id;
inline constexpr thread_id_type invalid_thread_id{};
}  // namespace threads

/// As std::thread. An exception that leaves its function ends the program, except
/// thread_interrupted.
class thread {
public:
    using id = quern::thread::id;
    using native_handle_type = id;

    thread() noexcept = default;
    template <class F, class... Ts>
        requires(!std::is_same_v<std::remove_cvref_t<F>, thread> && !detail::start_wish<F>)
    QUERN_ALWAYS_INLINE explicit thread(F&& f, Ts&&... ts) {
        start({.site = quern::detail::code_address()}, std::forward<F>(f), std::forward<Ts>(ts)...);
    }
    template <class Wish, class F, class... Ts>
    requires detail::launch_policy<Wish> || detail::own_executor<Wish>
        QUERN_ALWAYS_INLINE explicit thread(const Wish& wish, F&& f, Ts&&... ts) {
        start(quern::detail::made_at(quern::detail::code_address(), detail::attributes_of(wish)),
              std::forward<F>(f), std::forward<Ts>(ts)...);
    }
    thread(thread&&) noexcept = default;
    thread& operator=(thread&&) noexcept = default;

    void swap(thread& other) noexcept {
        m_thread.swap(other.m_thread);
        m_interruption.swap(other.m_interruption);
    }
    friend void swap(thread& a, thread& b) noexcept { a.swap(b); }

    bool joinable() const noexcept { return m_thread.joinable(); }
    id get_id() const noexcept { return m_thread.get_id(); }
    native_handle_type native_handle() const noexcept { return get_id(); }
    static unsigned hardware_concurrency() noexcept {
        return quern::thread::hardware_concurrency();
    }

    /// Throws hpx::exception: invalid_status unless joinable, thread_resource_error in the thread
    /// itself.
    void join() {
        require_joinable("hpx::thread::join");
        if (get_id() == id(quern::this_task::id())) {
            throw exception(error::thread_resource_error, "a thread joins itself");
        }
        m_thread.join();
    }
    void detach() {
        require_joinable("hpx::thread::detach");
        m_thread.detach();
    }

    /// Requests that it ends at its next interruption point.
    void interrupt(bool wanted = true) {
        require_joinable("hpx::thread::interrupt");
        m_interruption->request(wanted);
    }
    bool interruption_requested() const {
        return m_interruption != nullptr && m_interruption->requested();
    }

private:
    template <class F, class... Ts>
    void start(const quern::task_attributes& wanted, F&& f, Ts&&... ts) {
        m_interruption = std::make_shared<detail::interruption>();
        m_thread = quern::thread(
            wanted,
            [own = m_interruption, call = quern::detail::bind_call(
                                       std::forward<F>(f), std::forward<Ts>(ts)...)]() mutable {
                detail::set_own_interruption(std::move(own));
                try {
                    std::invoke(std::move(call));
                } catch (const thread_interrupted&) {  // requested, not an error
                }
            });
    }
    void require_joinable(const char* who) const {
        if (!joinable()) {
            throw exception(error::invalid_status, std::string(who) + ": there is no thread");
        }
    }

    quern::thread m_thread;
    std::shared_ptr<detail::interruption> m_interruption;
};

using quern::jthread;

namespace this_thread {

inline thread::id get_id() noexcept { return thread::id(quern::this_task::id()); }

void yield();
void sleep_until(std::chrono::steady_clock::time_point when);
template <class Clock, class Duration>
void sleep_until(const std::chrono::time_point<Clock, Duration>& when) {
    for (auto now = Clock::now(); now < when; now = Clock::now()) {
        this_thread::sleep_until(quern::detail::due_after(when - now));
    }
}
template <class Rep, class Period>
void sleep_for(const std::chrono::duration<Rep, Period>& time) {
    this_thread::sleep_until(quern::detail::due_after(time));
}
/// Lets others run; with a time, at least until that has passed.
inline void suspend() { yield(); }
template <class Rep, class Period>
void suspend(const std::chrono::duration<Rep, Period>& time) {
    this_thread::sleep_for(time);
}

threads::thread_priority get_priority() noexcept;
std::ptrdiff_t get_stack_size() noexcept;
std::ptrdiff_t get_available_stack_space() noexcept;
inline bool has_sufficient_stack_space(std::size_t space = 8192) noexcept {
    return quern::this_task::stack_left() >= space;
}

}  // namespace this_thread

namespace util {

/// Yields until the function returns false; with `true` first, it may also spin.
template <class Predicate>
void yield_while(Predicate&& busy, const char* = nullptr, bool = true) {
    while (busy()) {
        this_thread::yield();
    }
}

}  // namespace util

/// The workers, as HPX numbers them.
std::size_t get_worker_thread_num() noexcept;
std::size_t get_worker_thread_num(error_code& ec) noexcept;
std::size_t get_local_worker_thread_num() noexcept;
std::size_t get_os_thread_count();
std::size_t get_num_worker_threads();
std::size_t get_thread_count();
std::string get_thread_name();

}  // namespace hpx
