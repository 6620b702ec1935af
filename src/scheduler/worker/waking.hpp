// SPDX-License-Identifier: BSL-1.0
// How many sleepers a worker wakes: for what it has just published, and for what its victim has
// left after a theft. Only the worker's own thread. Protocol: src/scheduler/README.md, section
// "Parking".
#pragma once

#include <atomic>
#include <cstdint>

namespace quern::detail {

class context;
class worker;
class worker_shared;

inline constexpr std::uint32_t k_usual_wake_fanout = 2;
inline constexpr std::uint32_t k_most_wake_fanout = 64;

/// Sleepers that a worker wakes at once, at most. 1: each wakes one, and only if no worker
/// searches. Of the process.
inline constinit std::atomic<std::uint32_t> g_wake_fanout{k_usual_wake_fanout};

/// `publisher` runs on `self` and has made fork entries public: wakes one sleeper, or as many as
/// allowed if it has more entries. Those that search already count.
void wake_for_entries(worker& self, const context& publisher) noexcept;

/// `self` has made items of its deque public: wakes as many sleepers as there are public items and
/// as allowed. Those that search already count.
void wake_for_items(worker& self) noexcept;

/// `self` searches, and has taken something from `victim`: wakes as many sleepers as allowed if the
/// victim has fork entries left. Else as many as it has items left, less the others that search.
void wake_for_rest(worker& self, worker_shared& victim) noexcept;

}  // namespace quern::detail
