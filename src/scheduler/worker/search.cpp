// SPDX-License-Identifier: BSL-1.0
// The search of a worker that has nothing to run: its own queues, its victims, items of low
// priority, the pollers. After a search without result the worker sleeps (parking.cpp).
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <sched.h>
#include <algorithm>

namespace quern::detail {

namespace {

/// Pause instructions between two rounds over all victims. They double per round up to the limit.
constexpr int k_first_pause = 1;
constexpr int k_last_pause = 64;

}  // namespace

idle_loop::idle_loop(worker& self) noexcept : m_self(self), m_pool(self.home()) {}

work* idle_loop::search_and_park() noexcept {
    m_self.note_dry();
    m_self.thefts().is_dry(ticks());
    m_self.stats().begin_idle();
    m_pool.gate().begin_search();
    for (;;) {
        if (work* item = search()) {
            stop_searching();
            if (m_pool.time().needs_watch()) {
                see_to_watch();
            }
            m_self.stats().end_idle();
            return item;
        }
        if (m_pool.must_end(std::memory_order_acquire)) {
            m_pool.gate().end_search();
            return nullptr;
        }
        park();
        if (m_self.is_throttled()) {
            stop_searching();
            m_self.stats().end_idle();
            if (work* item = obey_throttle()) {
                return item;
            }
            m_self.stats().begin_idle();
            m_pool.gate().begin_search();
        }
    }
}

/// The wake relay. It may wake a worker in vain. With messages outstanding that would be so for
/// each message, and would delay the task that the message resumes. Then a worker is woken only if
/// there is something: public, by reads that come after the end of the search, or private here.
/// What this or another worker keeps private later, the watch sees (act_as_watch).
void idle_loop::stop_searching() noexcept {
    const bool is_last = m_pool.gate().end_search();
    const bool always = m_pool.policy().steals && !m_pool.time().pollers().is_eager(ticks());
    if (is_last && (always || m_self.deque().has_private() || m_pool.has_shared_work()) &&
        m_pool.wake_one(m_self.rank())) {
        m_self.stats().wakes.add();
    }
}

work* idle_loop::search() noexcept {
    thief& thefts = m_self.thefts();
    thefts.learn_from_theft();
    // More than half of the workers searching at once would only slow one another down.
    const bool crowded = 2 * m_pool.gate().load().searching > m_pool.size() + 1;
    const tick_count limit =
        crowded ? 0 : ticks_of_ns(1e3 * m_pool.knobs().spin_us.load(std::memory_order_relaxed));
    const tick_count start = ticks();
    tick_count now = start;
    bool is_eager = false;
    int pauses = k_first_pause;
    do {
        if (work* item = m_self.selector().take_ready()) {
            return item;
        }
        if (work* item = thefts.steal_round()) {
            thefts.begins_stolen();
            m_self.stats().stolen.add();
            return item;
        }
        if (work* item = m_self.selector().take_low()) {
            return item;
        }
        if (m_pool.time().any()) {
            look_after_time(idle_part::searching);
        }
        is_eager = !crowded && m_pool.time().pollers().is_eager(now);
        if (is_eager) {
            ask_pollers(idle_part::searching);
        }
        if (is_eager || pauses == k_last_pause) {
            if (!m_pool.all_idle()) {
                ::sched_yield();
            } else if (m_yields.may_yield(now)) {
                m_yields.yield();
            } else {
                break;  // asleep, it has the processor soon after it is woken
            }
        }
        for (int i = 0; i < pauses && !is_eager; ++i) {
            std_atomics::pause();
        }
        pauses = std::min(2 * pauses, k_last_pause);
        now = ticks();
    } while (is_eager || now - start < limit);
    return nullptr;
}

void yield_budget::yield() noexcept {
    const tick_count before = ticks();
    ::sched_yield();
    spend(before, ticks());
}

}  // namespace quern::detail
