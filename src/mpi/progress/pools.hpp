// SPDX-License-Identifier: BSL-1.0
// A poller for each pool, so that its workers look for the ends of operations, and so that a
// runtime does not end before the operations of its tasks.
#pragma once

#include <quern/base/detail/clock.hpp>
#include <quern/scheduler/pollers.hpp>

#include <atomic>
#include <chrono>

namespace quern::mpi::detail {

/// The operations of the tasks of one pool. It counts as one itself from the first operation until
/// a while after the last one.
class pool_poller {
public:
    /// After each beginning and end of an operation an idle worker looks without pause for `eager`.
    pool_poller(const pool_ref& of, std::chrono::microseconds eager);

    /// An operation of this pool begins; it has not ended yet.
    void begins() noexcept;
    /// It has ended, and all that wait for it have been told. The pool may end.
    void ends() noexcept { m_asks.settle(); }

    bool is_idle() const noexcept { return m_asks.outstanding() == 0; }

private:
    poll_result ask() noexcept;

    const quern::detail::tick_count m_linger;
    std::atomic<bool> m_lingers{false};
    std::atomic<quern::detail::tick_count> m_last{0};  ///< when an operation began last
    poller m_asks;
};

/// The poller of the calling task's pool, or null: the caller is no task.
pool_poller* poller_here() noexcept;

/// That of any living pool, or null.
pool_poller* poller_of_any() noexcept;

/// From now on each pool of a runtime that begins has a poller. Called once.
void observe_runtimes();

}  // namespace quern::mpi::detail
