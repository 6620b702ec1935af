// SPDX-License-Identifier: BSL-1.0
// The events that wait for the calls of one policy. Workers add, the thread for time takes. Each
// policy has a queue of its own: a slow policy loses its own events and no other's, and the order
// of a policy's events needs no sorting. Full means refused, never overwritten.
#pragma once

#include <quern/adaptation/policy_event.hpp>
#include <quern/base/detail/spin_lock.hpp>

#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

namespace quern::adaptation::detail {

/// A ring behind a spin lock: a listener must not block, and a copy takes some 20 ns.
class event_queue {
public:
    explicit event_queue(std::size_t capacity) : m_ring(capacity) {}

    enum class added { first, behind_others, not_at_all };

    /// Any thread.
    added add(const policy_event& one) noexcept {
        const std::scoped_lock lock(m_lock);
        if (m_count == m_ring.size()) {
            return added::not_at_all;
        }
        m_ring[(m_head + m_count) % m_ring.size()] = one;
        return m_count++ == 0 ? added::first : added::behind_others;
    }

    std::optional<policy_event> take() noexcept {
        const std::scoped_lock lock(m_lock);
        if (m_count == 0) {
            return std::nullopt;
        }
        const std::size_t at = m_head;
        m_head = (m_head + 1) % m_ring.size();
        --m_count;
        return m_ring[at];
    }

private:
    quern::detail::spin_lock m_lock;
    std::vector<policy_event> m_ring;
    std::size_t m_head = 0;
    std::size_t m_count = 0;
};

}  // namespace quern::adaptation::detail
