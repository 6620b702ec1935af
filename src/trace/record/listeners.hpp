// SPDX-License-Identifier: BSL-1.0
// How the layer tells listeners of what has no sink at a pool hooks, and tells them of pools.
// Called by the all hooks and by the observer of runtimes; private to the layer.
#pragma once

#include <quern/scheduler/detail/pool.hpp>
#include <quern/trace/events.hpp>

#include <cstdint>

namespace quern::trace::detail {

/// The task is about to enter a queue of the pool. Any thread; `rank` is k_no_worker for one that
/// is not a worker of the pool.
void tell_made(quern::detail::pool& home, std::uint32_t rank, std::uint64_t parent,
               const quern::detail::runnable& item) noexcept;

/// First the runtime, then its workers; and in the opposite order.
void tell_runtime_starts(runtime& which) noexcept;
void tell_runtime_stops(runtime& which) noexcept;

/// From now on, or no longer, the pool's events go to those that listen. Requires: the lock trace
/// is held. The first one throws std::bad_alloc.
void listeners_take_up(quern::detail::pool& which);
void listeners_leave(quern::detail::pool& which) noexcept;

/// Whether a recorder keeps messages, so that they are told. Requires: the lock trace is held.
void record_messages(bool wanted) noexcept;

/// Keeps a message of a thread that is not a worker in all recordings of events (recorder.cpp).
void keep_outside(const message_info& what) noexcept;

}  // namespace quern::trace::detail
