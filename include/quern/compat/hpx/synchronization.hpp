// SPDX-License-Identifier: BSL-1.0
// HPX's synchronisation: Quern's mutexes, condition variables, barriers and semaphores under HPX's
// names, and HPX's own members.
#pragma once

#include <quern/compat/hpx/errors.hpp>
#include <quern/compat/hpx/latches.hpp>
#include <quern/sync/barrier.hpp>
#include <quern/sync/call_once.hpp>
#include <quern/sync/condition_variable.hpp>
#include <quern/sync/condition_variable_any.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/sync/recursive_mutex.hpp>
#include <quern/sync/semaphore.hpp>
#include <quern/sync/sliding_semaphore.hpp>
#include <quern/sync/timed_mutex.hpp>
#include <quern/sync/unlock_guard.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <stop_token>

namespace hpx {

using quern::call_once;
using quern::mutex;
using quern::once_flag;
using quern::recursive_mutex;
using quern::timed_mutex;
using quern::unlock_guard;
using spinlock = quern::mutex;  // waits without a worker, the purpose of HPX's spinlock

/// For parameters of a mutex type where no mutex is needed.
struct no_mutex {
    void lock() noexcept {}
    bool try_lock() noexcept { return true; }
    void unlock() noexcept {}
};

using quern::condition_variable;
using quern::condition_variable_any;
using cv_status = std::cv_status;

using std::nostopstate;
using std::nostopstate_t;
using std::stop_callback;
using std::stop_source;
using std::stop_token;

template <class Completion = quern::detail::completes_nothing>
using barrier = quern::barrier<Completion>;

template <std::ptrdiff_t LeastMax = std::numeric_limits<std::ptrdiff_t>::max()>
using counting_semaphore = quern::counting_semaphore<LeastMax>;
using quern::binary_semaphore;

/// quern::sliding_semaphore with HPX's defaults, and the last signalled number.
class sliding_semaphore : public quern::sliding_semaphore {
public:
    explicit sliding_semaphore(std::int64_t max_difference, std::int64_t lower_limit = 0)
        : quern::sliding_semaphore(max_difference, lower_limit) {}
    bool try_wait(std::int64_t upper_limit = 1) {
        return quern::sliding_semaphore::try_wait(upper_limit);
    }
};

/// A semaphore that takes any number at once, all or none.
template <class Mutex = quern::mutex, int = 0>
class counting_semaphore_var {
public:
    explicit counting_semaphore_var(std::ptrdiff_t count = 0) : m_count(count) {}
    counting_semaphore_var(const counting_semaphore_var&) = delete;
    counting_semaphore_var& operator=(const counting_semaphore_var&) = delete;

    static constexpr std::ptrdiff_t max() noexcept {
        return std::numeric_limits<std::ptrdiff_t>::max();
    }

    void wait(std::ptrdiff_t count = 1) {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return m_count >= count; });
        m_count -= count;
    }
    bool try_wait(std::ptrdiff_t count = 1) {
        const std::scoped_lock lock(m_mutex);
        return take(count);
    }
    template <class Clock, class Duration>
    bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& when) {
        std::unique_lock lock(m_mutex);
        return m_changed.wait_until(lock, when, [&] { return m_count >= 1; }) && take(1);
    }
    template <class Rep, class Period>
    bool try_acquire_for(const std::chrono::duration<Rep, Period>& time) {
        return try_acquire_until(std::chrono::steady_clock::now() + time);
    }
    void acquire() { wait(); }
    bool try_acquire() { return try_wait(); }
    void signal(std::ptrdiff_t count = 1) {
        const std::scoped_lock lock(m_mutex);
        m_count += count;
        m_changed.notify_all();
    }
    void release(std::ptrdiff_t count = 1) { signal(count); }
    /// Wakes all waiters for one. Returns their greatest possible number.
    std::ptrdiff_t signal_all() {
        signal(max() / 2 - m_count);
        return max() / 2;
    }

private:
    bool take(std::ptrdiff_t count) {
        const bool enough = m_count >= count;
        m_count -= enough ? count : 0;
        return enough;
    }

    quern::mutex m_mutex;
    quern::condition_variable m_changed;
    std::ptrdiff_t m_count;
};

namespace lcos::local {

using hpx::mutex;
using hpx::no_mutex;
using hpx::recursive_mutex;
using hpx::sliding_semaphore;
using hpx::spinlock;
using hpx::timed_mutex;
using condition_variable = hpx::condition_variable;
using condition_variable_any = hpx::condition_variable_any;
using counting_semaphore = counting_semaphore_var<>;
using hpx::call_once;
using hpx::once_flag;

}  // namespace lcos::local

namespace util {
using hpx::unlock_guard;
}

}  // namespace hpx
