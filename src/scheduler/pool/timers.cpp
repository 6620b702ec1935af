// SPDX-License-Identifier: BSL-1.0
// The binomial queue of timers.
#include <quern/scheduler/detail/timers.hpp>

#include <quern/base/detail/assert.hpp>

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>

namespace quern::detail {

namespace {

/// The tick rate is known to about 0.01 %, so distant times are checked again.
constexpr std::chrono::nanoseconds k_longest_look = std::chrono::milliseconds(100);

}  // namespace

/// Merges two trees of one rank: the later root becomes the first child of the other.
timer* timer_queue::merge(timer* a, timer* b) noexcept {
    if (b->due < a->due) {
        std::swap(a, b);
    }
    b->m_before = a;
    b->m_next = a->m_child;
    if (b->m_next != nullptr) {
        b->m_next->m_before = b;
    }
    a->m_child = b;
    ++a->m_rank;
    return a;
}

/// Joins the children of a timer into one tree of at most the timer's rank. Lowest ranks first: the
/// tree joined so far has at most the rank of the next child, and can be treated as one of that
/// rank.
timer* timer_queue::join(timer* children) noexcept {
    timer* lowest = nullptr;
    while (children != nullptr) {
        timer* const next = std::exchange(children->m_next, lowest);
        lowest = std::exchange(children, next);
    }
    timer* all = nullptr;
    while (lowest != nullptr) {
        timer* const next = std::exchange(lowest->m_next, nullptr);
        lowest->m_before = nullptr;
        if (all == nullptr) {
            all = lowest;
        } else {
            all->m_rank = lowest->m_rank;
            all = merge(all, lowest);
        }
        lowest = next;
    }
    return all;
}

void timer_queue::add(timer* root) noexcept {
    const auto bit = [&] { return std::uint64_t{1} << root->m_rank; };
    while ((m_ranks & bit()) != 0) {
        m_ranks ^= bit();
        root = merge(m_trees[root->m_rank].root, root);
        QUERN_ASSERT(root->m_rank < k_ranks, "more timers were set than can be counted");
    }
    m_trees[root->m_rank] = {root->due, root};
    m_ranks |= bit();
}

void timer_queue::remove_root(timer& root) noexcept {
    QUERN_ASSERT(m_trees[root.m_rank].root == &root, "a timer without a parent is no root");
    m_ranks ^= std::uint64_t{1} << root.m_rank;
    timer* child = std::exchange(root.m_child, nullptr);
    while (child != nullptr) {
        timer* const next = std::exchange(child->m_next, nullptr);
        child->m_before = nullptr;
        add(child);
        child = next;
    }
    m_due = time_point::max();
    for (std::uint64_t left = m_ranks; left != 0; left &= left - 1) {
        m_due = std::min(m_due, m_trees[std::countr_zero(left)].due);
    }
}

timer& timer_queue::earliest_root() noexcept {
    for (std::uint64_t left = m_ranks; left != 0; left &= left - 1) {
        const tree& each = m_trees[std::countr_zero(left)];
        if (each.due == m_due) {
            return *each.root;
        }
    }
    QUERN_ASSERT(false, "the earliest timer is gone");
    __builtin_unreachable();
}

void timer_queue::publish_earliest() noexcept {
    using clock = timer::clock;
    // seq_cst: read by a worker that goes to sleep, after it has announced that.
    m_earliest.store(m_firing != 0 ? time_point::min() : m_due, std::memory_order_seq_cst);
    tick_count look = std::numeric_limits<tick_count>::max();
    if (m_due != time_point::max()) {
        const std::chrono::nanoseconds left =
            std::clamp<std::chrono::nanoseconds>(m_due - clock::now(), {}, k_longest_look);
        look = ticks() + ticks_of_ns(static_cast<double>(left.count()));
    }
    m_look_at.store(look, std::memory_order_relaxed);
}

bool timer_queue::set(timer& t, timer::clock::time_point due) noexcept {
    const std::scoped_lock lock(m_lock);
    t.due = std::max(due, time_point{});  // differences do not overflow
    t.m_child = t.m_next = t.m_before = nullptr;
    t.m_rank = 0;
    t.m_set = true;
    add(&t);
    if (t.due >= m_due) {
        return false;
    }
    m_due = t.due;
    publish_earliest();
    return true;
}

bool timer_queue::cancel(timer& t) noexcept {
    const std::scoped_lock lock(m_lock);
    if (!t.m_set) {
        return false;
    }
    t.m_set = false;
    if (t.m_before == nullptr) {
        remove_root(t);
        publish_earliest();
        return true;
    }
    timer* const next_owner = join(std::exchange(t.m_child, nullptr));
    timer* const next = next_owner != nullptr ? next_owner : t.m_next;
    (t.m_before->m_child == &t ? t.m_before->m_child : t.m_before->m_next) = next;
    if (next_owner != nullptr) {
        next_owner->m_rank = t.m_rank;
        next_owner->m_before = t.m_before;
        next_owner->m_next = t.m_next;
    }
    if (t.m_next != nullptr) {
        t.m_next->m_before = next_owner != nullptr ? next_owner : t.m_before;
    }
    return true;
}

std::size_t timer_queue::fire_due() noexcept {
    std::size_t fired = 0;
    const auto now = timer::clock::now();
    m_lock.lock();
    while (m_due <= now) {
        timer& due = earliest_root();
        remove_root(due);
        due.m_set = false;
        ++m_firing;
        ++fired;
        m_lock.unlock();
        due.fire(due);
        m_lock.lock();
        --m_firing;
    }
    publish_earliest();
    m_lock.unlock();
    return fired;
}

}  // namespace quern::detail
