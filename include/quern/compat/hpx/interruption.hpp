// SPDX-License-Identifier: BSL-1.0
// Interruption of hpx::thread: a request that its thread meets at interruption points, which are
// interruption_point(), yield(), suspend() and the sleeps of hpx::this_thread.
#pragma once

#include <quern/compat/hpx/errors.hpp>
#include <quern/sync/event.hpp>

#include <atomic>
#include <chrono>
#include <memory>

namespace hpx {

namespace detail {

/// What a thread and those who may interrupt it share.
class interruption {
public:
    /// Throws hpx::exception(thread_not_interruptable) while the thread does not allow it.
    void request(bool wanted);
    bool requested() const noexcept { return m_asked.is_set(); }
    bool enabled() const noexcept { return m_enabled.load(std::memory_order_relaxed); }
    bool enable(bool on) noexcept { return m_enabled.exchange(on, std::memory_order_relaxed); }

    /// Throws thread_interrupted when it was asked for and is allowed.
    void point();
    /// Sleeps until then, or until it is asked for.
    void sleep_until(std::chrono::steady_clock::time_point when);

private:
    std::atomic<bool> m_enabled{true};
    quern::event m_asked;
};

/// That of the running thread; null for tasks that are no hpx::thread.
interruption* own_interruption() noexcept;
void set_own_interruption(std::shared_ptr<interruption> own);

}  // namespace detail

namespace this_thread {

void interruption_point();
bool interruption_enabled() noexcept;
bool interruption_requested() noexcept;

/// While it lives the thread is not interrupted.
class disable_interruption {
public:
    disable_interruption() noexcept;
    disable_interruption(const disable_interruption&) = delete;
    disable_interruption& operator=(const disable_interruption&) = delete;
    ~disable_interruption();

private:
    friend class restore_interruption;
    bool m_before = false;
};

/// While it lives, what a disable_interruption around has changed is as before.
class restore_interruption {
public:
    explicit restore_interruption(disable_interruption& d) noexcept;
    restore_interruption(const restore_interruption&) = delete;
    restore_interruption& operator=(const restore_interruption&) = delete;
    ~restore_interruption();

private:
    bool m_before = false;
};

}  // namespace this_thread
}  // namespace hpx
