// SPDX-License-Identifier: BSL-1.0
// The wait list of a channel: a FIFO of nodes, and the waiters for a node. A node is an intrusive
// link, so that the user's values are created, moved and destroyed by their own tasks and never
// under a spin lock. Nothing here owns the nodes.
#pragma once

#include <quern/base/detail/cache_line.hpp>
#include <quern/base/detail/spin_lock.hpp>
#include <quern/scheduler/detail/stop_or_time.hpp>
#include <quern/scheduler/detail/timers.hpp>
#include <quern/sync/detail/node_queue.hpp>
#include <quern/sync/detail/waiting.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stop_token>

namespace quern::detail {

/// Base of the nodes.
struct wait_node {
    wait_node* next = nullptr;
};

/// A waiter for a node. When it resumes with null: closed and empty.
struct node_taker : waiter {
    wait_node* got = nullptr;
};

/// FIFO for nodes and for waiters. Once closed, no node is accepted; the remaining ones can still
/// be taken out.
class wait_list : private node_queue<std_atomics, wait_node, node_taker, crowded_lock> {
public:
    /// Wait reasons for reports: for a value or for a free slot of a channel. The reported object
    /// is the channel_lists.
    static const wait_kind k_wait_for_value;
    static const wait_kind k_wait_for_place;

    using taker = node_taker;

    constexpr wait_list() noexcept = default;

    /// Gives the node to the longest waiter, or keeps it. False: closed, nothing was done. With a
    /// next owner, the last access is the release of the spin lock, before the wake-up.
    bool put(wait_node& p) noexcept {
        taker* next_owner = nullptr;
        const bool done = node_queue::put(p, next_owner);
        if (next_owner != nullptr) {
            wake(*next_owner);
        }
        return done;
    }

    /// Waits for a node. Null: closed and empty.
    wait_node* take(const wait_reason& why) noexcept {
        wait_node* const p = try_take();
        return p != nullptr ? p : wait_for_node(why);
    }

    /// Waits with a deadline. True: finished, with `got` as above.
    bool take_until(const wait_reason& why, timer::clock::time_point deadline,
                    wait_node*& got) noexcept;
    /// The same until a stop is requested.
    bool take_until(const wait_reason& why, const std::stop_token& stop, wait_node*& got) noexcept;
    bool take_until(const wait_reason& why, const stop_or_time& limit, wait_node*& got) noexcept;

    /// For a coroutine. enqueue(): false if no wait is needed; `self` has its result.
    using node_queue::enqueue;
    using node_queue::withdraw;

    using node_queue::first_waiter;
    using node_queue::is_closed;
    using node_queue::keep;
    using node_queue::looks_empty;
    using node_queue::try_take;

    /// For reports: the number of nodes when none is in use.
    void expect(std::size_t count) noexcept;

private:
    friend struct channel_lists;
    static void wake(taker& next_owner) noexcept;
    wait_node* wait_for_node(const wait_reason& why) noexcept;
    wait_node* take_by_spinning() noexcept;
    template <class Limit>
    bool take_within(const wait_reason& why, const Limit& limit, wait_node*& got) noexcept;
    static void look_for_value(const void* copy, wait_findings& into) noexcept;
    static void look_for_place(const void* copy, wait_findings& into) noexcept;

    /// How many waits are to suspend at once, before one spins again. A hint for takers, beside the
    /// end that they use.
    std::atomic<std::uint32_t> m_spinless{0};
    std::uint32_t m_expected = 0;  ///< nodes when none is in use; for reports
    /// Keeps the takers of this list and the putters of the next one on different cache lines.
    [[maybe_unused]] std::array<std::byte, k_cache_line> m_between{};
};

/// The two wait lists of a channel. Its first member, so that reports show the channel's address
/// for both kinds of waits.
struct channel_lists {
    wait_list filled;
    /// If the channel is unbounded: slots kept for later values, and no waiter.
    wait_list free;

    /// Closes both and wakes all waiters without a node. The last access is the release of the
    /// second list's lock: see is_closed().
    void close() noexcept;

    /// A task that has learned that it is closed may destroy it once this has returned, even if
    /// close() has not.
    bool is_closed() const noexcept { return free.is_closed(); }
};

}  // namespace quern::detail
