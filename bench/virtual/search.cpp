// SPDX-License-Identifier: BSL-1.0
// A worker in virtual time that looks for work: steal.cpp, take.cpp, search.cpp and parking.cpp of
// the scheduler, repeated by hand; see worker.hpp.
#include "worker.hpp"

#include <algorithm>

namespace virtual_time {
namespace {

constexpr picoseconds k_us = 1'000'000;

// steal.cpp
constexpr picoseconds k_tiny = 1 * k_us;
constexpr std::uint32_t k_largest_batch_limit = 32;
// shared.cpp
constexpr picoseconds k_patience = 10 * k_us;
// search.cpp
constexpr int k_first_pause = 1;
constexpr int k_last_pause = 64;

}  // namespace

/// Its own queues, and work from outside, of which there is none: only what looking costs counts.
work* worker::take_ready() noexcept {
    if (ready_item* const item = pop()) {
        return item;
    }
    static_cast<void>(inbox.load());
    static_cast<void>(m_pool.injected.load());
    return suspended.steal();
}

work* worker::search_and_park() noexcept {
    m_pool.gate.begin_search();
    for (;;) {
        if (work* const found = search()) {
            m_is_woken = false;
            stop_searching();
            return found;
        }
        park();
    }
}

/// The last searcher wakes one in any case: what was published while it searched woke none.
void worker::stop_searching() noexcept {
    if (m_pool.gate.end_search()) {
        wake_up_to(1);
    }
}

/// waking.cpp
void worker::wake_for_rest(worker& victim) noexcept {
    const auto idle = m_pool.gate.load();
    if (m_pool.how.wakes == waking::relay || m_pool.how.fanout == 1 || idle.sleeping == 0) {
        return;
    }
    unsigned parts = m_pool.how.fanout;
    const context* const from = victim.current.load(std::memory_order_acquire);
    if (from == nullptr || !(from->has_public() || from->has_private())) {
        const unsigned left = victim.deque.size();
        parts = left - std::min(left, idle.searching - 1);  // without the caller
    }
    wake_up_to(std::min(parts, m_pool.how.fanout));
}

work* worker::search() noexcept {
    learn_from_theft();
    const bool crowded =
        m_pool.how.crowds && 2 * m_pool.gate.load().searching > m_pool.workers.size() + 1;
    const picoseconds limit = crowded ? 0 : m_pool.how.spin;
    const picoseconds start = atomics::ticks();
    picoseconds now = start;
    int pauses = k_first_pause;
    do {
        if (work* const item = take_ready()) {
            return item;
        }
        if (work* const found = steal_round()) {
            m_stole_at = atomics::ticks();
            return found;
        }
        if (pauses == k_last_pause) {
            static_cast<void>(m_pool.gate.load());  // all_idle()
            atomics::yield();
        }
        for (int i = 0; i < pauses; ++i) {
            atomics::pause();
        }
        pauses = std::min(2 * pauses, k_last_pause);
        now = atomics::ticks();
    } while (now - start < limit);
    return nullptr;
}

void worker::learn_from_theft() noexcept {
    if (m_stole_at != 0) {
        const picoseconds limit = k_tiny * std::max(m_last_batch, 1U);
        const bool tiny = atomics::ticks() - m_stole_at < limit;
        m_request_interval =
            tiny ? std::clamp(2 * m_request_interval, least_interval(), m_pool.how.ask_most)
                 : m_pool.how.ask_least;
        m_batch_limit =
            tiny && m_last_batch != 0 ? std::min(2 * m_batch_limit, k_largest_batch_limit) : 1;
        m_stole_at = 0;
    }
}

picoseconds worker::least_interval() const noexcept {
    return m_pool.how.asks_at_once ? 0 : m_pool.how.ask_least;
}

bool worker::may_request(picoseconds now) noexcept {
    if (now - m_last_request < std::max(m_request_interval, least_interval())) {
        return false;
    }
    m_last_request = now;
    return true;
}

work* worker::steal_round() noexcept {
    const picoseconds now = atomics::ticks();
    const bool requests = may_request(now);
    const auto size = m_pool.workers.size();
    const std::size_t start = m_random.below(static_cast<std::uint32_t>(size - 1));
    for (std::size_t i = 0; i + 1 < size; ++i) {
        worker& victim = *m_pool.workers[(m_rank + 1 + (start + i) % (size - 1)) % size];
        if (work* const found = try_steal(victim)) {
            ++counted.stolen;
            wake_for_rest(victim);
            return found;
        }
        if (requests && (i == 0 || !m_pool.how.asks_one)) {
            victim.request_work(now);
        }
        if (victim.is_silent(now) && victim.take_over()) {
            --i;  // try this victim again
        }
    }
    for (std::size_t i = 1; i < size; ++i) {  // steal_hinted()
        const worker& victim = *m_pool.workers[(m_rank + i) % size];
        static_cast<void>(victim.inbox.load());
        static_cast<void>(victim.hinted.load());
    }
    return nullptr;
}

work* worker::try_steal(worker& victim) noexcept {
    m_last_batch = 0;
    if (context* const from = victim.current.load(std::memory_order_acquire)) {
        if (entry* const found = from->steal()) {
            return found;
        }
    }
    if (entry* const found = victim.suspended.steal()) {
        return found;
    }
    const std::uint32_t half = victim.deque.public_size() / 2;
    ready_item* first_item = nullptr;
    for (std::uint32_t left = std::max(1U, std::min(m_batch_limit, half)); left != 0; --left) {
        ready_item* const item = victim.deque.steal();
        if (item == nullptr) {
            break;
        }
        ++m_last_batch;
        if (first_item == nullptr) {
            first_item = item;
        } else {
            push(*item);
        }
    }
    return first_item;
}

// -- what others ask of a victim ---------------------------------------------------------------

void worker::request_work(picoseconds now) noexcept {
    deque.request_work(now);
    if (context* const from = current.load(std::memory_order_seq_cst)) {
        from->request_work(now);
    }
}

bool worker::is_silent(picoseconds now) noexcept {
    const context* const from = current.load(std::memory_order_acquire);
    return deque.is_silent(now, k_patience) ||
           (from != nullptr && from->is_silent(now, k_patience));
}

bool worker::take_over() noexcept {
    context* const from = current.load(std::memory_order_seq_cst);
    const bool has_forks = from != nullptr && from->take_over();
    return deque.take_over() || has_forks;
}

bool worker::has_public_work() noexcept {
    const context* const from = current.load(std::memory_order_seq_cst);
    const bool forks = (from != nullptr && from->has_public()) || suspended.has_public();
    return forks || deque.public_size() != 0 || inbox.load() != 0 || hinted.load() != 0;
}

// -- sleep -------------------------------------------------------------------------------------

void worker::park() noexcept {
    if (deque.has_private()) {
        return;
    }
    m_pool.gate.announce_sleep(parker);
    ask_all_others();
    const bool has_work = m_pool.injected.load() != 0 ||
                          std::any_of(m_pool.workers.begin(), m_pool.workers.end(),
                                      [](const auto& w) { return w->has_public_work(); });
    if (has_work) {
        m_pool.gate.cancel_sleep(parker);
        return;
    }
    ++counted.parks;
    counted.vain += m_is_woken ? 1 : 0;
    m_pool.gate.sleep(parker);
    m_is_woken = true;
}

void worker::ask_all_others() noexcept {
    const picoseconds now = atomics::ticks();
    for (const auto& w : m_pool.workers) {
        if (w.get() != this) {
            w->request_work(now);
        }
    }
    if (m_pool.gate.load().sleeping < m_pool.workers.size()) {
        atomics::heavy_barrier();
        for (const auto& w : m_pool.workers) {
            w->take_over();
        }
    }
}

}  // namespace virtual_time
