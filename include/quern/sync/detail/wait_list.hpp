// SPDX-License-Identifier: BSL-1.0
// The wait list of a channel: a FIFO of nodes, and the waiters for a node. A node is an intrusive
// link, so that the user's values are created, moved and destroyed by their own tasks and never
// under the spin lock. Nothing here owns the nodes.
#pragma once

#include <quern/base/detail/spin_lock.hpp>
#include <quern/scheduler/detail/stop_or_time.hpp>
#include <quern/scheduler/detail/timers.hpp>
#include <quern/sync/detail/waiting.hpp>

#include <cstddef>
#include <cstdint>
#include <stop_token>

namespace quern::detail {

/// Base of the nodes.
struct wait_node {
    wait_node* next = nullptr;
};

/// FIFO for nodes and for waiters. Once closed, no node is accepted; the remaining ones can still
/// be taken out.
class wait_list {
public:
    /// Wait reasons for reports: for a value or for a free slot of a channel. The reported object
    /// is the channel_lists.
    static const wait_kind k_wait_for_value;
    static const wait_kind k_wait_for_place;

    constexpr wait_list() noexcept = default;

    /// Gives the node to the longest waiter, or keeps it. False: closed, nothing was done. With a
    /// next owner, the last access is the release of the spin lock, before the wake-up.
    bool put(wait_node& p) noexcept;

    /// Waits for a node. Null: closed and empty.
    wait_node* take(const wait_reason& why) noexcept;

    /// A waiter for a node. When it resumes with null: closed and empty.
    struct taker : waiter {
        wait_node* got = nullptr;
    };

    /// For a coroutine. False: no wait is needed, and `self` has its result.
    bool enqueue(taker& self) noexcept;
    /// Takes out a waiter whose limit has come; the caller must wake it. False: it has been woken,
    /// or it is not queued yet and marked late.
    bool withdraw(taker& self) noexcept;

    /// Waits with a deadline. True: finished, with `got` as above.
    bool take_until(const wait_reason& why, timer::clock::time_point deadline,
                    wait_node*& got) noexcept;
    /// The same until a stop is requested.
    bool take_until(const wait_reason& why, const std::stop_token& stop, wait_node*& got) noexcept;
    bool take_until(const wait_reason& why, const stop_or_time& limit, wait_node*& got) noexcept;

    /// Null: there is none.
    wait_node* try_take() noexcept;

    bool is_closed() const noexcept;

    /// The longest waiter, or null. Without other users.
    const taker* first_waiter() const noexcept { return m_takers.front(); }

    /// For reports: the number of nodes when none is in use.
    void expect(std::size_t count) noexcept;

private:
    friend struct channel_lists;
    template <class Limit>
    bool take_within(const wait_reason& why, const Limit& limit, wait_node*& got) noexcept;
    static void look_for_value(const void* copy, wait_findings& into) noexcept;
    static void look_for_place(const void* copy, wait_findings& into) noexcept;

    wait_node* pop() noexcept;

    mutable spin_lock m_lock;
    bool m_closed = false;
    std::uint32_t m_expected = 0;  ///< nodes when none is in use; for reports
    wait_queue<std_atomics, wait_node> m_nodes;
    /// Invariant: empty while there are nodes or it is closed, when m_lock is free.
    wait_queue<std_atomics, taker> m_takers;
};

/// The two wait lists of a channel. Its first member, so that reports show the channel's address
/// for both kinds of waits.
struct channel_lists {
    wait_list filled;
    wait_list free;  ///< always empty if the channel is unbounded

    /// Closes both and wakes all waiters without a node. The last access is the release of the
    /// second list's lock: see is_closed().
    void close() noexcept;

    /// A task that has learned that it is closed may destroy it once this has returned, even if
    /// close() has not.
    bool is_closed() const noexcept { return free.is_closed(); }
};

}  // namespace quern::detail
