// SPDX-License-Identifier: BSL-1.0
// hpx::threads: tasks as HPX makes them below hpx::async, and calls between tasks and OS threads.
#pragma once

#include <quern/compat/hpx/functional.hpp>
#include <quern/compat/hpx/thread.hpp>
#include <quern/scheduler/held_locks.hpp>
#include <quern/task/blocking_region.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

namespace hpx::threads {

using thread_function_type = move_only_function<void()>;

inline thread_id_type get_self_id() noexcept { return this_thread::get_id(); }
/// Tasks get their names when they are made.
inline std::string set_thread_description(thread_id_type, const std::string& = {}) { return {}; }
inline std::string get_thread_description(thread_id_type) {
    const char* const name = quern::this_task::name();
    return name != nullptr ? name : "<unknown>";
}

template <class F>
thread_function_type make_thread_function_nullary(F&& f) {
    return thread_function_type([f = std::decay_t<F>(std::forward<F>(f))]() mutable { f(); });
}
template <class F>
thread_function_type make_thread_function(F&& f) {
    return make_thread_function_nullary(std::forward<F>(f));
}

/// A task that has not been made. The description must outlive it.
struct thread_init_data {
    thread_init_data() = default;
    template <class F>
    explicit thread_init_data(F&& f, const char* description_ = nullptr,
                              thread_priority p = thread_priority::default_,
                              thread_schedule_hint h = {},
                              thread_stacksize s = thread_stacksize::default_)
        : func(std::forward<F>(f)), description(description_), priority(p), stacksize(s), hint(h) {}

    thread_function_type func;
    const char* description = nullptr;
    thread_priority priority = thread_priority::default_;
    thread_stacksize stacksize = thread_stacksize::default_;
    thread_schedule_hint hint{};
};

/// Starts it, without a future.
inline void register_work(thread_init_data& data, error_code& ec = throws) {
    quern::task_attributes wanted =
        launch(launch::async)(data.priority, data.stacksize, data.hint).attributes();
    wanted.name = data.description;
    hpx::detail::start_posted(wanted, std::move(data.func));
    hpx::detail::succeed(ec);
}
inline void register_work(thread_init_data&& data, error_code& ec = throws) {
    register_work(data, ec);
}
inline thread_id_type register_thread(thread_init_data& data, error_code& ec = throws) {
    hpx::thread made(launch(launch::async)(data.priority, data.stacksize, data.hint),
                     [f = std::move(data.func)]() mutable { f(); });
    const thread_id_type id = made.get_id();
    made.detach();
    hpx::detail::succeed(ec);
    return id;
}
inline thread_id_type register_thread(thread_init_data&& data, error_code& ec = throws) {
    return register_thread(data, ec);
}

/// Calls f(ts...) as a task, from an OS thread; waits for its result.
template <class F, class... Ts>
decltype(auto) run_as_hpx_thread(F&& f, Ts&&... ts) {
    return hpx::async(std::forward<F>(f), std::forward<Ts>(ts)...).get();
}
/// A future of f(ts...), called where it may block its OS thread.
template <class F, class... Ts>
auto run_as_os_thread(F&& f, Ts&&... ts) {
    return hpx::async(
        [call = quern::detail::bind_call(std::forward<F>(f), std::forward<Ts>(ts)...)]() mutable {
            return quern::blocking(call);
        });
}

}  // namespace hpx::threads

namespace hpx {

using threads::run_as_hpx_thread;
using threads::run_as_os_thread;

namespace applier {
using threads::register_thread;
using threads::register_work;
}  // namespace applier

namespace util {

/// While it lives, held locks are not reported.
template <class Lock>
struct ignore_while_checking : quern::ignore_held_locks {
    explicit ignore_while_checking(const Lock*) {}
};
template <class Lock>
ignore_while_checking(const Lock*) -> ignore_while_checking<Lock>;
struct ignore_all_while_checking : quern::ignore_held_locks {};

}  // namespace util
}  // namespace hpx
