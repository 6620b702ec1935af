// SPDX-License-Identifier: BSL-1.0
// Interruption of hpx::thread: a request that the thread sees at interruption points:
// interruption_point(), yield(), suspend() and the sleeps of hpx::this_thread.
#pragma once

#include <quern/compat/hpx/errors.hpp>
#include <quern/sync/event.hpp>

#include <atomic>
#include <chrono>
#include <memory>

namespace hpx {

namespace detail {

/// The state shared by a thread and its interrupters.
class interruption {
public:
    /// Throws hpx::exception(thread_not_interruptable) while the thread forbids it.
    void request(bool wanted);
    bool requested() const noexcept { return m_asked.is_set(); }
    bool enabled() const noexcept { return m_enabled.load(std::memory_order_relaxed); }
    bool enable(bool on) noexcept { return m_enabled.exchange(on, std::memory_order_relaxed); }

    /// Throws thread_interrupted if it was requested and is permitted.
    void point();
    /// Sleeps until that time, or until a request.
    void sleep_until(std::chrono::steady_clock::time_point when);

private:
    std::atomic<bool> m_enabled{true};
    quern::event m_asked;
};

/// The state of the running thread; null for tasks that are no hpx::thread.
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

/// While it lives, the effect of the enclosing disable_interruption is undone.
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
