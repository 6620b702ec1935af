// SPDX-License-Identifier: BSL-1.0
// What other threads do with a worker: they steal from it, ask it for work, and look whether there
// is some. And where they find the fork entries of contexts that do not run.
#include <quern/scheduler/detail/worker_shared.hpp>

#include <quern/scheduler/detail/pool.hpp>

#include <algorithm>
#include <mutex>

namespace quern::detail {

namespace {

/// A victim that has not answered a request for so long runs code that does not check for requests.
/// Interrupting it then pays (1 to 2 us on two processors).
constexpr double k_patience_ns = 10'000;

}  // namespace

void stealable_contexts::put(context& c) noexcept {
    const std::scoped_lock lock(m_lock);
    c.m_listed_in.store(this, std::memory_order_relaxed);
    m_contexts.push_back(c);
    // seq_cst read-modify-write: ordered before the read of the gate.
    m_count.fetch_add(1, std::memory_order_seq_cst);
}

void stealable_contexts::take(context& c) noexcept {
    if (stealable_contexts* from =
            c.m_listed_in.load(std::memory_order_acquire)) {  // pairs with remove
        const std::scoped_lock lock(from->m_lock);
        if (c.m_listed_in.load(std::memory_order_relaxed) != nullptr) {
            from->remove(c);
        }
    }
}

void stealable_contexts::remove(context& c) noexcept {
    intrusive_list<context>::erase(c);
    m_count.fetch_sub(1, std::memory_order_relaxed);
    c.m_listed_in.store(nullptr, std::memory_order_release);  // the last access: pairs with take
}

fork_entry* stealable_contexts::steal(context*& from) noexcept {
    if (m_count.load(std::memory_order_seq_cst) == 0) {
        return nullptr;
    }
    const std::scoped_lock lock(m_lock);
    while (context* c = m_contexts.front()) {
        fork_entry* entry = c->steal();
        from = c;
        const bool exhausted = !c->has_public();  // for good, because its owner does not run
        if (exhausted) {
            remove(*c);
        }
        if (entry != nullptr || !exhausted) {
            return entry;
        }
    }
    return nullptr;
}

bool stealable_contexts::has_public() noexcept {
    if (m_count.load(std::memory_order_seq_cst) == 0) {
        return false;
    }
    const std::scoped_lock lock(m_lock);
    for (context* c = m_contexts.front(); c != nullptr; c = m_contexts.after(*c)) {
        if (c->has_public()) {
            return true;
        }
    }
    return false;
}

worker_status::worker_status(pool& home, std::uint32_t rank) : m_pool(home), m_rank(rank) {
    if constexpr (k_counters) {
        m_sites = std::make_unique<site_counts>();
        m_stats.overhead.count_sites_in(*m_sites);
    }
}

fork_entry* worker_shared::steal_fork(context*& from) noexcept {
    context* const now = running();  // pairs with adopt
    if (now != nullptr) {
        if (fork_entry* entry = now->steal()) {
            from = now;
            return entry;
        }
    }
    return own_suspended().steal(from);
}

ready_list worker_shared::steal_kept(std::uint32_t thief, const theft& what) noexcept {
    if (m_policy_queues != nullptr) {
        return m_policy_queues->steal(rank(), thief, what);
    }
    ready_list taken;
    for (std::size_t wanted = what.share_of(own_deque().public_size()); wanted != 0; --wanted) {
        runnable* const item = own_deque().steal();
        if (item == nullptr) {
            break;
        }
        taken.push_back(ready_item(item));
    }
    return taken;
}

void worker_shared::request_work(tick_count now) noexcept {
    own_deque().request_work(now);
    if (context* const current = running(std::memory_order_seq_cst)) {
        current->request_work(now);
    }
}

bool worker_shared::is_silent(tick_count now) const noexcept {
    if (!home().has_barrier()) {
        return false;
    }
    const tick_count patience = ticks_of_ns(k_patience_ns);
    const context* const current = running();  // pairs with adopt
    return own_deque().is_silent(now, patience) ||
           (current != nullptr && current->is_silent(now, patience));
}

bool worker_shared::take_over() noexcept {
    context* const current = running(std::memory_order_seq_cst);
    const bool has_forks = current != nullptr && current->take_over();
    return own_deque().take_over() || has_forks;
}

/// True if others can see an item that this worker keeps by its policy. seq_cst.
bool worker_shared::has_items() noexcept {
    return m_policy_queues == nullptr ? own_deque().public_size() != 0
                                      : m_policy_queues->has_items(rank());
}

bool worker_shared::has_public_work() noexcept {
    context* const current = running(std::memory_order_seq_cst);
    const bool forks = is_stealable() && ((current != nullptr && current->has_public()) ||
                                          own_suspended().has_public());
    return forks || has_items() || !mailbox().empty() || !ranked().empty();
}

bool worker_shared::is_stealable() const noexcept {
    // seq_cst: a thread that lowers the number of active workers afterwards checks what the worker
    // holds (obey_throttle). A thread that gives the worker an item afterwards reads the number
    // here.
    return home().policy().steals ||
           rank() >= home().knobs().active_workers.load(std::memory_order_seq_cst);
}

bool worker_shared::is_throttled() const noexcept {
    return rank() >= home().knobs().active_workers.load(std::memory_order_seq_cst) &&
           !home().must_end(std::memory_order_seq_cst);
}

void worker_shared::count_near_rings() noexcept {
    const auto is_near = [this](const ring& victims) {
        return std::all_of(victims.begin(), victims.end(),
                           [this](const worker_shared* other) { return other->m_node == m_node; });
    };
    const auto far = std::find_if_not(m_victims.begin(), m_victims.end(), is_near);
    m_rings_of_node = static_cast<std::size_t>(far - m_victims.begin());
}

std::size_t worker_shared::queued() const noexcept {
    const std::size_t kept =
        m_policy_queues == nullptr ? own_deque().size() : m_policy_queues->size(rank());
    return kept + mailbox().size() + own_pinned().size() + ranked().size();
}

}  // namespace quern::detail
