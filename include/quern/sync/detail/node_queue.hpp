// SPDX-License-Identifier: BSL-1.0
// The protocol of a wait list: a FIFO of nodes with a lock for each end, and a FIFO of takers that
// wait for a node. Putters and takers meet at one lock only when the taking end is empty. It
// neither sleeps nor wakes: it returns the takers to wake.
// Protocol and proof: src/sync/README.md; explored in tests/model/channel_test.cpp.
#pragma once

#include <quern/base/detail/cache_line.hpp>
#include <quern/base/detail/config.hpp>
#include <quern/sync/detail/waiting.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace quern::detail {

/// `Node` has `next`. `Taker` has `got`, and the members that wait_queue needs.
template <class Atomics, class Node, class Taker, class Lock>
class node_queue {
public:
    constexpr node_queue() noexcept = default;

    /// Puts a node in, or gives it to the longest waiting taker, which the caller must wake. False:
    /// closed, nothing was done. The last access is the release of the lock of the putting end.
    bool put(Node& n, Taker*& next_owner) noexcept {
        next_owner = nullptr;
        const std::scoped_lock guard(m_putting.lock);
        if (m_putting.closed) [[unlikely]] {
            return false;
        }
        if (m_putting.takers.looks_empty()) [[likely]] {
            m_putting.push(n);
        } else {
            next_owner = &m_putting.takers.pop();
            next_owner->got = &n;
        }
        return true;
    }

    /// Puts a node in for a later try_take(), unless `most` nodes lie at the putting end. False: it
    /// was not put in. Requires: no taker waits in this queue.
    bool keep(Node& n, std::uint32_t most) noexcept {
        if (m_putting.kept.load(std::memory_order_relaxed) >= most) {
            return false;
        }
        const std::scoped_lock guard(m_putting.lock);
        const std::uint32_t kept = m_putting.kept.load(std::memory_order_relaxed);
        if (m_putting.closed || kept >= most) [[unlikely]] {
            return false;
        }
        m_putting.kept.store(kept + 1, std::memory_order_relaxed);
        m_putting.push(n);
        return true;
    }

    /// Null: there is none.
    Node* try_take() noexcept {
        for (;;) {
            if (!m_taking.looks_empty()) {
                if (Node* const first = take_moved()) [[likely]] {
                    return first;
                }
            } else if (m_putting.looks_empty()) {
                if (m_taking.looks_empty()) [[likely]] {  // as in looks_empty()
                    return nullptr;
                }
            } else {
                const std::scoped_lock guard(m_putting.lock);
                if (m_taking.looks_empty()) [[likely]] {
                    return move();
                }
            }
        }
    }

    /// False: no wait is needed, and `self` has its node, or null because the queue is closed and
    /// empty, or because it is late and now `expired`. True: it is queued; the caller must not
    /// touch this object before it is woken.
    bool enqueue(Taker& self) noexcept {
        const std::scoped_lock guard(m_putting.lock);
        Node* const moved = m_taking.looks_empty() ? nullptr : take_moved();
        self.got = moved != nullptr ? moved : move();
        if (self.got != nullptr || m_putting.closed) {
            return false;
        }
        if (self.late) {
            self.expired = true;
            return false;
        }
        m_putting.takers.push(self);
        return true;
    }

    /// Takes out a taker whose limit has come; the caller must wake it. False: it has been taken
    /// out, or it is not queued yet and marked late.
    bool withdraw(Taker& self) noexcept {
        const std::scoped_lock guard(m_putting.lock);
        return m_putting.takers.withdraw(self);
    }

    /// The takers of two queues, as chains.
    struct all_takers {
        Taker* of_outer;
        Taker* of_inner;
    };

    /// Closes both: no node is accepted, the remaining ones can be taken out. Returns the waiting
    /// takers, which the caller must wake. The last access is the release of the outer one's lock.
    static all_takers close(node_queue& outer, node_queue& inner) noexcept {
        const std::scoped_lock outer_guard(outer.m_putting.lock);
        const std::scoped_lock inner_guard(inner.m_putting.lock);
        outer.m_putting.closed = true;
        inner.m_putting.closed = true;
        return {outer.m_putting.takers.take_all(), inner.m_putting.takers.take_all()};
    }

    /// Exact. When this returns true, close() no longer accesses this queue.
    bool is_closed() const noexcept {
        const std::scoped_lock guard(m_putting.lock);
        return m_putting.closed;
    }

    /// Without a lock: sees at least what happens before the call. Also for a copy of the bytes.
    bool looks_empty() const noexcept {
        return m_taking.looks_empty() && m_putting.looks_empty() &&
               m_taking.looks_empty();  // again: move() may have come between the two checks
    }
    /// Whether the next try_take() will probably not need the putting end.
    bool looks_moved() const noexcept { return !m_taking.looks_empty(); }
    bool looks_awaited() const noexcept { return !m_putting.takers.looks_empty(); }

    /// The longest waiting taker, or null. Without other users.
    const Taker* first_waiter() const noexcept { return m_putting.takers.front(); }

private:
    /// The first node of the taking end, or null.
    Node* take_moved() noexcept {
        const std::scoped_lock guard(m_taking.lock);
        Node* const first = m_taking.nodes.load(std::memory_order_acquire);  // pairs with move
        if (first != nullptr) {
            m_taking.nodes.store(static_cast<Node*>(first->next), std::memory_order_relaxed);
        }
        return first;
    }

    /// The first node of the putting end, or null; moves all others to the taking end. Requires:
    /// the lock of the putting end is held, and the taking end is empty.
    Node* move() noexcept {
        Node* const first = m_putting.first.load(std::memory_order_relaxed);
        if (first != nullptr) {
            m_taking.nodes.store(static_cast<Node*>(first->next),
                                 std::memory_order_release);  // pairs with take_moved
            m_putting.kept.store(0, std::memory_order_relaxed);
            m_putting.first.store(nullptr, std::memory_order_release);  // pairs with looks_empty
        }
        return first;
    }

    /// What putters access. Takers that wait are here, so that a putter finds them under its lock.
    struct putting_end {
        void push(Node& n) noexcept {
            n.next = nullptr;
            if (first.load(std::memory_order_relaxed) == nullptr) {
                first.store(&n, std::memory_order_relaxed);
            } else {
                static_cast<Node*>(last)->next = &n;
            }
            last = &n;
        }
        bool looks_empty() const noexcept {
            return first.load(std::memory_order_acquire) == nullptr;  // pairs with take_moved
        }

        mutable Lock lock;
        typename Atomics::template plain<bool> closed{false};
        typename Atomics::template atomic<std::uint32_t> kept{0};  ///< the nodes here, if they are
                                                                   ///< put in by keep()
        typename Atomics::template atomic<Node*> first{nullptr};
        typename Atomics::template plain<Node*> last{nullptr};  ///< meaningless when empty
        /// Invariant: empty while there are nodes at either end or it is closed, when the lock is
        /// free.
        wait_queue<Atomics, Taker> takers;
    };
    /// What takers access: nodes that were moved here together. They come before those of the
    /// putting end.
    /// Invariant: it stays empty while the putting end is locked, except for what move() puts here;
    /// otherwise only nodes at the front leave, under this lock.
    struct taking_end {
        bool looks_empty() const noexcept {
            return nodes.load(std::memory_order_relaxed) == nullptr;
        }

        Lock lock;
        typename Atomics::template atomic<Node*> nodes{nullptr};
    };

    putting_end m_putting;
    /// Keeps the ends on different cache lines. Not alignas: a channel may lie in the frame of a
    /// coroutine, for which gcc 12 does not align more than operator new does.
    [[maybe_unused]] std::array<std::byte, k_cache_line> m_between{};
    taking_end m_taking;
};

}  // namespace quern::detail
