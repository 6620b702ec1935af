// SPDX-License-Identifier: BSL-1.0
// hpx::latch and the waiting types of hpx::lcos::local: event, barrier, latch, with HPX's own
// members.
#pragma once

#include <quern/compat/hpx/errors.hpp>
#include <quern/sync/condition_variable.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/mutex.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>

namespace hpx {

namespace lcos::local {

/// quern::event with HPX's member occurred().
class event : public quern::event {
public:
    using quern::event::event;
    bool occurred() const noexcept { return is_set(); }
};

/// A barrier whose number of participants may change between and before phases.
class barrier {
public:
    explicit barrier(std::size_t participants) : m_expected(participants) {}
    barrier(const barrier&) = delete;
    barrier& operator=(const barrier&) = delete;
    /// Waits for participants that are leaving: the last to arrive may be the first to leave.
    ~barrier() {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [this] { return m_leaving == 0; });
    }

    /// Waits until the expected number has arrived.
    void wait() {
        std::unique_lock lock(m_mutex);
        if (++m_here >= m_expected) {
            m_leaving += m_here - 1;
            m_here = 0;
            ++m_meeting;
            m_changed.notify_all();
            return;
        }
        const std::uint64_t mine = m_meeting;
        m_changed.wait(lock, [&] { return m_meeting != mine; });
        if (--m_leaving == 0) {
            m_changed.notify_all();
        }
    }
    /// Expects one more.
    void count_up() {
        const std::scoped_lock lock(m_mutex);
        ++m_expected;
    }
    void reset(std::size_t participants) {
        const std::scoped_lock lock(m_mutex);
        m_expected = participants;
    }

private:
    quern::mutex m_mutex;
    quern::condition_variable m_changed;
    std::size_t m_expected;
    std::size_t m_here = 0;
    std::size_t m_leaving = 0;  ///< of past phases
    std::uint64_t m_meeting = 0;
};

/// A latch whose count may grow while it is not open, and that may be closed again.
class latch {
public:
    explicit latch(std::ptrdiff_t count) : m_count(count) {}
    latch(const latch&) = delete;
    latch& operator=(const latch&) = delete;

    static constexpr std::ptrdiff_t max() noexcept {
        return std::numeric_limits<std::ptrdiff_t>::max();
    }

    void count_down(std::ptrdiff_t n = 1) {
        const std::scoped_lock lock(m_mutex);
        lower(n);
    }
    bool try_wait() const {
        const std::scoped_lock lock(m_mutex);
        return m_count == 0;
    }
    bool is_ready() const { return try_wait(); }
    void wait() const {
        std::unique_lock lock(m_mutex);
        wait_in(lock);
    }
    void arrive_and_wait(std::ptrdiff_t n = 1) {
        std::unique_lock lock(m_mutex);
        const bool last = m_count == n;
        lower(n);
        if (!last) {
            wait_in(lock);
        }
    }
    void count_down_and_wait() { arrive_and_wait(); }
    void count_up(std::ptrdiff_t n) {
        const std::scoped_lock lock(m_mutex);
        m_count += n;
    }
    void reset(std::ptrdiff_t n) {
        const std::scoped_lock lock(m_mutex);
        m_count = n;
    }
    /// Closes it with that count if it is open; else adds `n`. Returns whether it was open.
    bool reset_if_needed_and_count_up(std::ptrdiff_t n, std::ptrdiff_t count = 1) {
        const std::scoped_lock lock(m_mutex);
        const bool open = m_count == 0;
        m_count = open ? count + n - 1 : m_count + n;
        return open;
    }

private:
    void lower(std::ptrdiff_t n) {
        if (n < 0 || n > m_count) {
            throw exception(error::invalid_status, "a latch is counted down below zero");
        }
        m_count -= n;
        if (m_count == 0) {
            ++m_opened;
            m_changed.notify_all();
        }
    }
    /// Opening wakes all waiters, also when the latch is closed again before they run.
    void wait_in(std::unique_lock<quern::mutex>& lock) const {
        const std::uint64_t before = m_opened;
        m_changed.wait(lock, [&] { return m_count == 0 || m_opened != before; });
    }

    mutable quern::mutex m_mutex;
    mutable quern::condition_variable m_changed;
    std::ptrdiff_t m_count;
    std::uint64_t m_opened = 0;
};

}  // namespace lcos::local

using lcos::local::latch;

}  // namespace hpx
