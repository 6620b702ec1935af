// SPDX-License-Identifier: BSL-1.0
// The one thread for time, "quern-time": it calls functions when they are due, for all layers that
// sample, serve or decide. It starts with the first call that is registered and ends with the last.
// It takes no signals, which are the program's, and a report of a hang does not wait for it.
// It must never be needed for tasks to make progress: those have the timers of their pool.
#pragma once

#include <quern/base/detail/config.hpp>

#include <poll.h>
#include <chrono>
#include <functional>
#include <memory>
#include <span>

namespace quern::detail {

class timer_thread;

/// Calls a function on the thread for time when it is due, until it is destroyed. A function that
/// takes long makes all others late by as much, unless it says so (off_the_clock). After an
/// exception, which is reported on stderr, the function is not called again.
class periodic_call {
public:
    using clock = std::chrono::steady_clock;

    /// `work` returns when it is due next; time_point::max(): only after hurry() or a descriptor.
    /// `name`, a literal, is what messages say. Throws std::system_error without a thread.
    periodic_call(const char* name, clock::time_point first,
                  std::function<clock::time_point()> work);

    /// Every `period`, first after one. A call that is late by whole periods leaves these out.
    /// Requires: it is positive.
    periodic_call(const char* name, std::chrono::nanoseconds period, std::function<void()> work);

    /// Afterwards no call is in progress and none will come; waits for one that is in progress. The
    /// function itself may destroy the object: then it is not called again.
    /// Requires: the caller holds no lock that the function takes.
    ~periodic_call();
    periodic_call(const periodic_call&) = delete;
    periodic_call& operator=(const periodic_call&) = delete;

    /// It is due at that time if not before.
    void hurry(clock::time_point until);

    /// From now on it is also due when one of these is ready, as in poll(2); those with a negative
    /// descriptor are passed over. They are not looked at while the function runs.
    /// Requires: the function is running, or the descriptors stay open until the next call of this.
    void await(std::span<const pollfd> descriptors);

    /// Whether it belongs to the process that this one has been forked from: it is never called
    /// here.
    bool inherited() const noexcept;

private:
    friend class timer_thread;
    friend class timer_threads;
    struct entry;
    std::shared_ptr<entry> m_entry;
};

/// Within a function that a periodic_call calls: what follows, until the end of the call, may take
/// long or wait for the program, so another thread calls the others meanwhile. It may wake tasks
/// while this object lives: a report of a hang then counts this thread. No effect on other threads.
/// Cost: the second thread starts at the first of these and sleeps between them.
class off_the_clock {
public:
    /// No effect unless `wanted`.
    explicit off_the_clock(bool wanted = true) noexcept;
    ~off_the_clock();
    off_the_clock(const off_the_clock&) = delete;
    off_the_clock& operator=(const off_the_clock&) = delete;

private:
    timer_thread* m_left = nullptr;
};

}  // namespace quern::detail
