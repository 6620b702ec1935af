// SPDX-License-Identifier: BSL-1.0
// Registers and calls the pollers, and keeps the interval between calls.
#include <quern/scheduler/pollers.hpp>

#include "diagnosis/waits/report_parts.hpp"

#include <quern/base/detail/assert.hpp>
#include <quern/base/detail/process.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/runtime.hpp>

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

namespace quern {

namespace detail {

namespace {

// Between two calls: a part of the time without progress. So what takes several steps, of which the
// pollers see only the last, is delayed by about that part altogether.
constexpr tick_count k_part_of_wait = 16;
constexpr double k_shortest_interval_ns = 20e3;
constexpr double k_longest_interval_ns = 1e6;

/// The longest interval while workers run tasks: a call there wakes no thread (guessed; 1 to 2 % of
/// a worker that asks MPI).
constexpr double k_longest_between_tasks_ns = 50e3;

/// Between two looks of the watch while another worker asks without pause (guessed).
constexpr std::chrono::microseconds k_beside_eager{200};

/// How long a report waits for a poller whose function runs (guessed).
constexpr std::chrono::milliseconds k_patience{20};

bool lock_within_patience(spin_lock& lock) {
    const auto deadline = std::chrono::steady_clock::now() + k_patience;
    while (!lock.try_lock()) {
        if (std::chrono::steady_clock::now() > deadline) {
            return false;
        }
        std::this_thread::yield();
    }
    return true;
}

}  // namespace

poller_list::~poller_list() {
    const std::scoped_lock all(lock_of(process_lock::pollers));
    for (poller* each : m_pollers) {
        each->m_pool.store(nullptr, std::memory_order_relaxed);
    }
}

void poller_list::add(poller& one, pool& home) {
    const std::scoped_lock all(lock_of(process_lock::pollers));
    const std::scoped_lock lock(m_lock);
    m_pollers.push_back(&one);
    one.m_pool.store(&home, std::memory_order_relaxed);
}

void poller_list::remove(poller& one) noexcept {
    const std::scoped_lock all(lock_of(process_lock::pollers));
    pool* const home = one.m_pool.load(std::memory_order_relaxed);
    if (home == nullptr || home->inherited()) {
        return;
    }
    poller_list& list = home->time().pollers();
    const std::scoped_lock lock(list.m_lock);
    std::erase(list.m_pollers, &one);
    if (const std::uint64_t left = one.outstanding(); left != 0) {
        one.m_count.lower(list.m_armed, left);
    }
}

bool poller_list::arm(poller& one, std::uint64_t operations) noexcept {
    const tick_count now = ticks();
    one.m_moved.store(now, std::memory_order_relaxed);
    m_due.store(now, std::memory_order_relaxed);
    m_watch_due.store(now, std::memory_order_relaxed);
    return one.m_count.raise(m_armed, operations);
}

std::chrono::nanoseconds poller_list::until_due(bool others_search) const noexcept {
    const tick_count due = m_watch_due.load(std::memory_order_relaxed);
    const tick_count now = ticks();
    if (others_search && is_eager(now)) {
        return k_beside_eager;
    }
    // Another worker should have finished asking by now: the watch does not spin.
    const double left = due > now ? static_cast<double>(due - now) * ns_per_tick() : 0;
    return std::chrono::nanoseconds(
        static_cast<std::int64_t>(std::clamp(left, k_shortest_interval_ns, k_longest_interval_ns)));
}

void poller_list::ask() noexcept {
    if (!m_lock.try_lock()) {
        return;
    }
    const std::scoped_lock lock(std::adopt_lock, m_lock);
    bool progress = false;
    bool soon = false;
    for (poller* each : m_pollers) {
        if (each->outstanding() != 0) {
            m_asked.store(each->m_how.name.c_str(), std::memory_order_relaxed);
            const poll_result result = each->m_how.ask();
            soon = soon || result == poll_result::soon;
            if (result == poll_result::progress) {
                const tick_count now = ticks();
                each->m_moved.store(now, std::memory_order_relaxed);
                has_moved(now, each->m_eager);
                progress = true;
            }
        }
    }
    m_asked.store(nullptr, std::memory_order_relaxed);
    if (progress) {
        m_progress.fetch_add(1, std::memory_order_relaxed);
    }
    const tick_count now = ticks();
    const tick_count moved = soon ? now : m_moved.load(std::memory_order_relaxed);
    const auto after = [now, wait = now > moved ? now - moved : 0](double longest_ns) {
        return now + std::clamp(wait / k_part_of_wait, ticks_of_ns(k_shortest_interval_ns),
                                ticks_of_ns(longest_ns));
    };
    m_due.store(after(k_longest_between_tasks_ns), std::memory_order_relaxed);
    m_watch_due.store(after(k_longest_interval_ns), std::memory_order_relaxed);
}

bool poller_list::any_but(std::string_view name) {
    if (none()) {
        return false;
    }
    if (!lock_within_patience(m_lock)) {
        // While one is asked no other can be. Its text may have been destroyed meanwhile.
        return copy_text(m_asked.load(std::memory_order_relaxed)) != name;
    }
    const std::scoped_lock lock(std::adopt_lock, m_lock);
    return std::any_of(m_pollers.begin(), m_pollers.end(), [name](const poller* each) {
        return each->outstanding() != 0 && each->name() != name;
    });
}

std::vector<seen_poller> poller_list::outstanding() {
    std::vector<seen_poller> seen;
    if (none()) {
        return seen;
    }
    if (!lock_within_patience(m_lock)) {
        const char* const asked = m_asked.load(std::memory_order_relaxed);
        seen.push_back({.name = copy_text(asked)});  // the poller may be destroyed meanwhile
        return seen;
    }
    const std::scoped_lock lock(std::adopt_lock, m_lock);
    const tick_count now = ticks();
    for (poller* each : m_pollers) {
        const std::uint64_t count = each->outstanding();
        if (count == 0) {
            continue;
        }
        seen_poller& one = seen.emplace_back();
        one.name = each->name();
        one.outstanding = count;
        const tick_count moved = each->m_moved.load(std::memory_order_relaxed);
        one.seconds = now > moved ? static_cast<double>(now - moved) * ns_per_tick() * 1e-9 : 0;
        one.words = each->m_how.tell ? each->m_how.tell() : "";
    }
    return seen;
}

}  // namespace detail

poller::poller(const pool_ref& where, poller_options how) : m_how(std::move(how)) {
    if (m_how.name.empty()) {
        throw std::invalid_argument("quern: a poller needs a name, which reports show");
    }
    if (!m_how.ask) {
        throw std::invalid_argument("quern: poller '" + m_how.name + "' has no function to ask");
    }
    m_eager = detail::ticks_of_ns(1e3 * static_cast<double>(m_how.eager.count()));
    detail::pool& home = where.get();
    home.time().pollers().add(*this, home);
}

poller::~poller() { detail::poller_list::remove(*this); }

void poller::expect(std::uint64_t operations) noexcept {
    if (operations == 0) {
        return;
    }
    detail::pool* const home = m_pool.load(std::memory_order_relaxed);
    QUERN_ASSERT(home != nullptr, "an operation begins at a poller whose runtime has ended");
    home->time().pollers().has_moved(detail::ticks(), m_eager);
    if (!m_count.raise_further(operations)) {
        home->arm(*this, operations);
    }
}

void poller::settle(std::uint64_t operations) noexcept {
    if (operations == 0) {
        return;
    }
    detail::pool* const home = m_pool.load(std::memory_order_relaxed);
    QUERN_ASSERT(home != nullptr, "an operation ends at a poller whose runtime has ended");
    const std::uint64_t before = m_count.lower(home->time().pollers().m_armed, operations);
    QUERN_ASSERT(before >= operations, "more operations have ended at a poller than had begun");
}

}  // namespace quern
