// SPDX-License-Identifier: BSL-1.0
// Executors: objects that say where and how functions run. HPX's become attributes of tasks; a
// program's own are called through their members, or through tag_invoke.
#pragma once

#include <quern/compat/hpx/launch.hpp>
#include <quern/scheduler/runtime.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace hpx::threads {

/// A pool of the running runtime. hpx::resource::get_thread_pool gives it.
class thread_pool_base {
public:
    explicit thread_pool_base(quern::pool_ref pool) noexcept : m_pool(pool) {}
    std::string get_pool_name() const { return std::string(m_pool.name()); }
    std::size_t get_os_thread_count() const noexcept { return m_pool.workers(); }
    quern::pool_ref pool() const noexcept { return m_pool; }

private:
    quern::pool_ref m_pool;
};

}  // namespace hpx::threads

namespace hpx::execution {

/// Runs each function as a task, in the given pool or in the caller's.
class parallel_executor {
public:
    constexpr parallel_executor() noexcept = default;
    explicit parallel_executor(launch how) noexcept : m_how(how) {}
    explicit parallel_executor(threads::thread_priority p,
                               threads::thread_stacksize s = threads::thread_stacksize::default_,
                               threads::thread_schedule_hint h = {}) noexcept
        : m_how(launch::async(p, s, h)) {}
    explicit parallel_executor(threads::thread_stacksize s,
                               threads::thread_schedule_hint h = {}) noexcept
        : m_how(launch::async(threads::thread_priority::default_, s, h)) {}
    explicit parallel_executor(threads::thread_schedule_hint h) noexcept
        : m_how(launch::async(h)) {}
    explicit parallel_executor(threads::thread_pool_base* pool,
                               threads::thread_priority p = threads::thread_priority::default_,
                               threads::thread_stacksize s = threads::thread_stacksize::default_,
                               threads::thread_schedule_hint h = {}) noexcept
        : m_how(launch::async(p, s, h)), m_pool(pool) {}

    quern::task_attributes attributes() const {
        quern::task_attributes wanted = m_how.attributes();
        if (m_pool != nullptr) {
            wanted.pool = &m_pool->pool().get();
        }
        wanted.name = m_name;
        return wanted;
    }

    launch policy() const noexcept { return m_how; }
    parallel_executor with(launch how) const noexcept { return changed(how, m_name); }
    parallel_executor with_name(const char* name) const noexcept { return changed(m_how, name); }
    friend bool operator==(const parallel_executor&, const parallel_executor&) = default;

private:
    parallel_executor changed(launch how, const char* name) const noexcept {
        parallel_executor same = *this;
        same.m_how = how;
        same.m_name = name;
        return same;
    }

    launch m_how = launch::async;
    threads::thread_pool_base* m_pool = nullptr;
    const char* m_name = nullptr;
};

/// Runs each function on the thread that waits for its result, or at once if it has no waiter.
class sequenced_executor {
public:
    quern::task_attributes attributes() const noexcept {
        return launch(launch::deferred).attributes();
    }
    friend bool operator==(const sequenced_executor&, const sequenced_executor&) = default;
};

namespace experimental {

using hpx::execution::parallel_executor;
using thread_pool_executor = parallel_executor;
using restricted_thread_pool_executor = parallel_executor;
using fork_join_executor = parallel_executor;

/// The executor with one more attribute.
inline parallel_executor with_priority(const parallel_executor& e, threads::thread_priority p) {
    return e.with(e.policy()(p, e.policy().stacksize(), e.policy().hint()));
}
inline parallel_executor with_stacksize(const parallel_executor& e, threads::thread_stacksize s) {
    return e.with(e.policy()(s));
}
inline parallel_executor with_hint(const parallel_executor& e, threads::thread_schedule_hint h) {
    return e.with(e.policy()(h));
}
inline parallel_executor with_annotation(const parallel_executor& e, const char* name) {
    return e.with_name(name);
}
constexpr launch with_priority(const launch& l, threads::thread_priority p) {
    return l(p, l.stacksize(), l.hint());
}
constexpr launch with_stacksize(const launch& l, threads::thread_stacksize s) { return l(s); }
constexpr launch with_hint(const launch& l, threads::thread_schedule_hint h) { return l(h); }

/// To be specialised for a program's own executors.
template <class T>
struct is_one_way_executor : std::false_type {};
template <class T>
struct is_two_way_executor : std::false_type {};
template <class T>
struct is_never_blocking_one_way_executor : std::false_type {};
template <class T>
struct is_bulk_one_way_executor : std::false_type {};
template <class T>
struct is_bulk_two_way_executor : std::false_type {};
template <>
struct is_one_way_executor<parallel_executor> : std::true_type {};
template <>
struct is_two_way_executor<parallel_executor> : std::true_type {};
template <>
struct is_one_way_executor<sequenced_executor> : std::true_type {};
template <>
struct is_two_way_executor<sequenced_executor> : std::true_type {};

}  // namespace experimental
}  // namespace hpx::execution

namespace hpx::parallel::execution {

using namespace hpx::execution;
using namespace hpx::execution::experimental;
using default_executor = hpx::execution::parallel_executor;

// The customisations by tag_invoke for a program's executor.
struct async_execute_t {
    template <class Executor, class F, class... Ts>
    decltype(auto) operator()(Executor&& e, F&& f, Ts&&... ts) const;
};
struct sync_execute_t {
    template <class Executor, class F, class... Ts>
    decltype(auto) operator()(Executor&& e, F&& f, Ts&&... ts) const;
};
struct post_t {
    template <class Executor, class F, class... Ts>
    decltype(auto) operator()(Executor&& e, F&& f, Ts&&... ts) const;
};
inline constexpr async_execute_t async_execute{};
inline constexpr sync_execute_t sync_execute{};
inline constexpr post_t post{};

}  // namespace hpx::parallel::execution

namespace hpx::detail {

/// An executor of this header set.
template <class T>
concept own_executor = requires(const std::remove_cvref_t<T>& e) {
    { e.attributes() } -> std::same_as<quern::task_attributes>;
}
&&!launch_policy<T>;

/// A program's executor.
template <class T>
concept foreign_executor =
    execution::experimental::is_one_way_executor<std::remove_cvref_t<T>>::value ||
    execution::experimental::is_two_way_executor<std::remove_cvref_t<T>>::value ||
    execution::experimental::is_never_blocking_one_way_executor<std::remove_cvref_t<T>>::value;

template <class T>
concept any_executor = own_executor<T> || foreign_executor<T>;

/// The types that may precede the function of async, post, dataflow and then.
template <class T>
concept start_wish = launch_policy<T> || any_executor<T>;

/// A policy or an executor of this header set as attributes.
template <class Wish>
quern::task_attributes attributes_of(const Wish& wish) {
    if constexpr (launch_policy<Wish>) {
        return static_cast<launch>(wish).attributes();
    } else {
        return wish.attributes();
    }
}

}  // namespace hpx::detail
