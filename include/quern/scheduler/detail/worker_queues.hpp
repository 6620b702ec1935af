// SPDX-License-Identifier: BSL-1.0
// The queues that a worker has under every scheduling policy; others belong to the policy. First in
// the worker, so that its deque has the worker's address. All functions are protected: the types
// derived from it say who may use which.
#pragma once

#include <quern/scheduler/detail/ranked_queue.hpp>
#include <quern/scheduler/detail/ready_deque.hpp>
#include <quern/scheduler/detail/ready_queue.hpp>
#include <quern/scheduler/detail/steal_end.hpp>
#include <quern/scheduler/detail/stealable_contexts.hpp>

namespace quern::detail {

class worker_queues {
public:
    worker_queues(const worker_queues&) = delete;
    worker_queues& operator=(const worker_queues&) = delete;

protected:
    worker_queues() = default;
    ~worker_queues() = default;

    worker_deque& own_deque() noexcept { return m_deque; }
    const worker_deque& own_deque() const noexcept { return m_deque; }
    ready_queue& own_pinned() noexcept { return m_pinned; }
    const ready_queue& own_pinned() const noexcept { return m_pinned; }
    stealable_contexts& own_suspended() noexcept { return m_suspended; }

    /// Items that are for this worker: hinted ones, and what has yielded; pushed by any thread.
    ranked_queue& mailbox() noexcept { return m_mailbox; }
    const ranked_queue& mailbox() const noexcept { return m_mailbox; }
    /// Items of another rank or priority than normal that any worker may take, under every policy.
    ranked_queue& ranked() noexcept { return m_ranked; }
    const ranked_queue& ranked() const noexcept { return m_ranked; }

private:
    worker_deque m_deque;    ///< where the policy has no queues of its own
    ranked_queue m_mailbox;  ///< everything under nemesis and static
    ready_queue m_pinned;    ///< contexts that only this worker may resume
    ranked_queue m_ranked;
    stealable_contexts m_suspended;
};

}  // namespace quern::detail
