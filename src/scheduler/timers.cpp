// SPDX-License-Identifier: BSL-1.0
// The pairing heap of timers.
#include <quern/scheduler/timers.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

namespace quern::detail {

namespace {

/// The rate of ticks is known to about 0.01 %, so a look in ticks at a time far away is repeated.
constexpr std::chrono::nanoseconds k_longest_look = std::chrono::milliseconds(100);

}  // namespace

timer* timer_queue::merge(timer* a, timer* b) noexcept {
    if (a == nullptr || b == nullptr) {
        return a != nullptr ? a : b;
    }
    if (b->due < a->due) {
        std::swap(a, b);
    }
    b->m_before = a;
    b->m_next = a->m_child;
    if (b->m_next != nullptr) {
        b->m_next->m_before = b;
    }
    a->m_child = b;
    return a;
}

/// The two passes over siblings: pairs from left to right, then all together from right to left.
timer* timer_queue::merge_pairs(timer* first) noexcept {
    timer* pairs = nullptr;  // the last one first
    while (first != nullptr) {
        timer* a = first;
        timer* b = a->m_next;
        first = b != nullptr ? b->m_next : nullptr;
        a->m_next = a->m_before = nullptr;
        if (b != nullptr) {
            b->m_next = b->m_before = nullptr;
        }
        timer* both = merge(a, b);
        both->m_next = pairs;
        pairs = both;
    }
    timer* root = nullptr;
    while (pairs != nullptr) {
        timer* next = std::exchange(pairs->m_next, nullptr);
        root = merge(root, pairs);
        pairs = next;
    }
    return root;
}

void timer_queue::publish_earliest() noexcept {
    using clock = timer::clock;
    auto due = m_root != nullptr ? m_root->due : clock::time_point::max();
    due = m_firing != 0 ? clock::time_point::min() : due;
    // seq_cst: read by a worker that goes to sleep, after it has said so.
    m_earliest.store(due, std::memory_order_seq_cst);
    tick_count look = std::numeric_limits<tick_count>::max();
    if (m_root != nullptr && m_root->due != clock::time_point::max()) {
        const std::chrono::nanoseconds left =
            std::clamp<std::chrono::nanoseconds>(m_root->due - clock::now(), {}, k_longest_look);
        look = ticks() + ticks_of_ns(static_cast<double>(left.count()));
    }
    m_look_at.store(look, std::memory_order_relaxed);
}

bool timer_queue::set(timer& t, timer::clock::time_point due) noexcept {
    using clock = timer::clock;
    const std::scoped_lock lock(m_lock);
    t.due = std::max(due, clock::time_point{});  // differences do not overflow
    t.m_child = t.m_next = t.m_before = nullptr;
    t.m_set = true;
    m_root = merge(m_root, &t);
    if (m_root != &t) {
        return false;
    }
    publish_earliest();
    return true;
}

bool timer_queue::cancel(timer& t) noexcept {
    const std::scoped_lock lock(m_lock);
    if (!t.m_set) {
        return false;
    }
    t.m_set = false;
    timer* below = merge_pairs(std::exchange(t.m_child, nullptr));
    if (m_root == &t) {
        m_root = below;
        publish_earliest();
        return true;
    }
    (t.m_before->m_child == &t ? t.m_before->m_child : t.m_before->m_next) = t.m_next;
    if (t.m_next != nullptr) {
        t.m_next->m_before = t.m_before;
    }
    m_root = merge(m_root, below);
    return true;
}

void timer_queue::fire_due() noexcept {
    const auto now = timer::clock::now();
    m_lock.lock();
    while (m_root != nullptr && m_root->due <= now) {
        timer& due = *m_root;
        m_root = merge_pairs(std::exchange(due.m_child, nullptr));
        due.m_set = false;
        ++m_firing;
        m_lock.unlock();
        due.fire(due);
        m_lock.lock();
        --m_firing;
    }
    publish_earliest();
    m_lock.unlock();
}

}  // namespace quern::detail
