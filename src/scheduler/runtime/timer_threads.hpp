// SPDX-License-Identifier: BSL-1.0
// The thread for time, and the one that takes its place while a function is off the clock. All that
// they share is guarded by the lock `time` of the process, which is not held while a function is
// called. Used by periodic_call.cpp.
#pragma once

#include <quern/base/detail/process.hpp>
#include <quern/scheduler/detail/periodic_call.hpp>
#include <quern/scheduler/detail/process_registry.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace quern::detail {

using clock_type = periodic_call::clock;

struct periodic_call::entry {
    const char* const name;
    const std::function<clock::time_point()> work;
    clock::time_point due;
    std::vector<pollfd> awaited{};
    const timer_thread* caller = nullptr;  ///< that calls it now
    bool ended = false;                    ///< not to be called again
    const unsigned generation = fork_generation();
};

class timer_threads;

inline std::mutex& time_lock() noexcept { return lock_of(process_lock::time); }

/// One thread, from its start until it is joined.
class timer_thread {
public:
    /// Throws std::system_error.
    explicit timer_thread(timer_threads& of);

    /// The calling thread, or null.
    static timer_thread* self() noexcept;
    /// In the child of a fork() that it has called: it is none any more.
    static void forget_self() noexcept;

    timer_threads& team;
    std::optional<harmless_thread> wakes_no_task;  ///< only the thread touches it
    std::thread thread;                            ///< the last member: it uses the others
};

/// The registered functions and their threads: one at the clock, and others that call a function
/// off the clock or sleep until they are needed.
class timer_threads {
public:
    using entry = periodic_call::entry;

    explicit timer_threads(timer_threads* of_parent);
    timer_threads(const timer_threads&) = delete;
    timer_threads& operator=(const timer_threads&) = delete;
    ~timer_threads() { ::close(m_wake); }

    void add(const std::shared_ptr<entry>& one);
    void hurry(entry& one, clock_type::time_point until) noexcept;
    void await(entry& one, std::vector<pollfd> descriptors);
    /// True when it was the last, and the threads can be joined.
    bool remove(const std::shared_ptr<entry>& one, std::unique_lock<std::mutex>& guard);
    bool empty() const noexcept { return m_all.empty(); }

    /// Requires: no function is registered, and none will be. Not under the lock.
    void end() noexcept;

    /// Of one of its threads; under the lock.
    void run(timer_thread& me);
    void leave_clock() noexcept;

    /// In the child of a fork().
    void close_inherited() noexcept { ::close(m_wake); }

private:
    entry* earliest() noexcept;
    void wake() const noexcept { ::eventfd_write(m_wake, 1); }
    void tell_clock(const entry& changed) const noexcept;
    void wake_sleeper() const noexcept;
    void call(timer_thread& me, std::shared_ptr<entry> one, std::unique_lock<std::mutex>& guard);
    void sleep(std::unique_lock<std::mutex>& guard);

    /// So that a leak checker finds what a fork() has copied.
    [[maybe_unused]] timer_threads* const m_of_parent;
    const int m_wake;  ///< an eventfd
    std::vector<std::shared_ptr<entry>> m_all{};
    std::vector<std::unique_ptr<timer_thread>> m_threads{};
    const timer_thread* m_at_clock = nullptr;
    std::size_t m_resting = 0;  ///< threads that wait for m_relief
    /// The one at the clock sleeps until then; min(): it is awake.
    clock_type::time_point m_wakes_at = clock_type::time_point::min();
    bool m_ends = false;
    std::condition_variable m_relief{};
    std::condition_variable m_called{};
};

}  // namespace quern::detail
