// SPDX-License-Identifier: BSL-1.0
// The decisions of a worker in virtual time; see worker.hpp.
#include "worker.hpp"

#include <algorithm>

namespace virtual_time {
namespace {

constexpr picoseconds k_us = 1'000'000;

// steal.cpp
constexpr picoseconds k_tiny = 1 * k_us;
constexpr picoseconds k_patience = 10 * k_us;
// take.cpp
constexpr int k_first_pause = 1;
constexpr int k_last_pause = 64;
// context.cpp
constexpr std::uint32_t k_eager_pushes = 16;
constexpr int k_join_spins = 100;

}  // namespace

pool::pool(unsigned count, const rules& r, std::uint64_t seed) : how(r) {
    for (std::size_t rank = 0; rank < count; ++rank) {
        workers.push_back(std::make_unique<worker>(*this, rank, rank + 1 + 1000 * seed));
    }
}

bool pool::wake_one(std::size_t near) noexcept {
    for (std::size_t i = 0; i < workers.size(); ++i) {
        if (gate.wake(workers[(near + i) % workers.size()]->parker)) {
            return true;
        }
    }
    return false;
}

// -- the owner of a stack ----------------------------------------------------------------------

void stack::push_trapped() noexcept {
    if (m_host.home().workers.size() == 1) {
        arm();
        return;
    }
    const rules& how = m_host.home().how;
    const bool is_timed = m_last_slow_path != k_not_timed;
    const picoseconds begin = is_timed ? atomics::ticks() : 0;
    if (is_timed && begin - m_last_slow_path > how.coarse) {
        m_eager_pushes = k_eager_pushes;
    }
    m_host.current.store(this, std::memory_order_seq_cst);
    if (m_eager_pushes != 0) {
        --m_eager_pushes;
        force_slow_path();
        publish_all();
        m_host.notify_public_work();
    } else {
        answer_request();
        if (!how.times_every_push) {
            if (is_timed) {
                m_last_slow_path = k_not_timed;
                return;
            }
            force_slow_path();
        }
    }
    m_last_slow_path = how.times_every_push ? begin : atomics::ticks();
}

void stack::answer_request() noexcept {
    ++m_host.counted.answers;
    arm();
    if (m_host.home().gate.load().any_idle()) {
        publish_half();
        m_host.notify_public_work();
    }
}

/// Waits for a child without suspending: a suspended spawner is not simulated.
bool stack::join(slot* place) noexcept {
    entry& child = **place;
    if (reclaim(place)) {
        return true;
    }
    for (int spins = 0; !child.joined.done(); ++spins) {
        atomics::pause();
        m_host.counted.late_joins += spins == k_join_spins ? 1 : 0;
    }
    reset(place);
    return false;
}

// -- a worker that looks for work --------------------------------------------------------------

void worker::notify_public_work() noexcept {
    if (m_pool.gate.load().must_wake()) {
        m_pool.wake_one(m_rank);
    }
}

void worker::run() noexcept {
    for (;;) {
        begin_item();
        entry* child = take_ready();
        if (child == nullptr) {
            child = search_and_park();
        }
        running.force_slow_path();
        static_cast<void>(static_cast<std::uint64_t>(child->closure));
        atomics::spend(&costs::loop_turn);
        child->joined.complete();
        ++counted.stolen;
    }
}

/// Its own queues, and work from outside. All are empty: only what looking costs counts.
entry* worker::take_ready() noexcept {
    static_cast<void>(deque.pop());
    if (deque.wanted() && deque.has_private()) {
        deque.arm();
    }
    static_cast<void>(inbox.load());
    static_cast<void>(m_pool.injected.load());
    static_cast<void>(suspended.load());
    return nullptr;
}

entry* worker::search_and_park() noexcept {
    m_pool.gate.begin_search();
    for (;;) {
        if (entry* const found = search()) {
            stop_searching();
            return found;
        }
        park();
    }
}

void worker::stop_searching() noexcept {
    if (m_pool.gate.end_search()) {
        m_pool.wake_one(m_rank);
    }
}

entry* worker::search() noexcept {
    learn_from_theft();
    const bool crowded = 2 * m_pool.gate.load().searching > m_pool.workers.size() + 1;
    const picoseconds limit = crowded ? 0 : m_pool.how.spin;
    const picoseconds start = atomics::ticks();
    picoseconds now = start;
    int pauses = k_first_pause;
    do {
        static_cast<void>(take_ready());
        if (entry* const found = steal_round()) {
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
        const bool tiny = atomics::ticks() - m_stole_at < k_tiny;
        m_request_interval =
            tiny ? std::clamp(2 * m_request_interval, least_interval(), m_pool.how.ask_most)
                 : m_pool.how.ask_least;
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

entry* worker::steal_round() noexcept {
    const picoseconds now = atomics::ticks();
    const bool requests = may_request(now);
    const auto size = m_pool.workers.size();
    const std::size_t start = m_random.below(static_cast<std::uint32_t>(size - 1));
    for (std::size_t i = 0; i + 1 < size; ++i) {
        worker& victim = *m_pool.workers[(m_rank + 1 + (start + i) % (size - 1)) % size];
        if (entry* const found = try_steal(victim)) {
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

entry* worker::try_steal(worker& victim) noexcept {
    if (stack* const from = victim.current.load(std::memory_order_acquire)) {
        if (entry* const found = from->steal()) {
            return found;
        }
    }
    static_cast<void>(victim.suspended.load());
    static_cast<void>(victim.deque.public_size());
    return nullptr;
}

// -- what others ask of a victim ---------------------------------------------------------------

void worker::request_work(picoseconds now) noexcept {
    deque.request_work(now);
    if (stack* const from = current.load(std::memory_order_seq_cst)) {
        from->request_work(now);
    }
}

bool worker::is_silent(picoseconds now) noexcept {
    const stack* const from = current.load(std::memory_order_acquire);
    return deque.is_silent(now, k_patience) ||
           (from != nullptr && from->is_silent(now, k_patience));
}

bool worker::take_over() noexcept {
    stack* const from = current.load(std::memory_order_seq_cst);
    const bool has_forks = from != nullptr && from->take_over();
    return deque.take_over() || has_forks;
}

bool worker::has_public_work() noexcept {
    const stack* const from = current.load(std::memory_order_seq_cst);
    const bool forks = (from != nullptr && from->has_public()) || suspended.load() != 0;
    return forks || deque.public_size() != 0 || inbox.load() != 0 || hinted.load() != 0;
}

// -- sleep -------------------------------------------------------------------------------------

void worker::park() noexcept {
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
    m_pool.gate.sleep(parker);
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
