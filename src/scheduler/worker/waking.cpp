// SPDX-License-Identifier: BSL-1.0
// Wake-ups as a tree: see waking.hpp. Each function wakes at least where the rule of a single
// wake-up does (worker::notify_public_work), or beside it (idle_loop::stop_searching).
#include "worker/waking.hpp"

#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <algorithm>
#include <cstddef>

namespace quern::detail {

namespace {

void wake_several(worker& self, std::uint32_t count) noexcept {
    for (; count != 0 && self.home().wake_one(self.rank()); --count) {
        self.stats().wakes.add();
    }
}

/// `parts`: how many workers could have some of the public work.
void wake_for_parts(worker& self, std::uint32_t parts, std::uint32_t searching) noexcept {
    const std::uint32_t most = std::clamp(parts, 1U, g_wake_fanout.load(std::memory_order_relaxed));
    if (searching < most) {
        const worker_stats::kernel_call waking(self.stats());
        wake_several(self, most - searching);
    }
}

/// Contexts live as long as their pool, so one that has left its worker meanwhile may be read.
bool has_entries(const worker_shared& victim) noexcept {
    const context* const now = victim.running();
    return now != nullptr && (now->has_public() || now->has_private());
}

/// Items that a thief may take. Its mailbox is for the victim at first. A context that is pinned
/// there counts too.
std::size_t items_of(worker_shared& victim) noexcept {
    const std::size_t all = victim.queued();
    return all - std::min(all, victim.mailbox().size());
}

}  // namespace

void wake_for_entries(worker& self, const context& publisher) noexcept {
    const auto idle = self.home().gate().load();
    if (idle.sleeping != 0) {
        wake_for_parts(self, publisher.has_private() ? k_most_wake_fanout : 1, idle.searching);
    }
}

void wake_for_items(worker& self) noexcept {
    const auto idle = self.home().gate().load();
    if (idle.sleeping != 0) {
        wake_for_parts(self, self.deque().public_size(), idle.searching);
    }
}

/// While a poller is eager it wakes none, as the last searcher (idle_loop::stop_searching).
void wake_for_rest(worker& self, worker_shared& victim) noexcept {
    pool& home = self.home();
    const std::uint32_t most = g_wake_fanout.load(std::memory_order_relaxed);
    const auto idle = home.gate().load();
    if (idle.sleeping == 0 || most == 1 || home.time().pollers().is_eager(ticks())) {
        return;
    }
    std::size_t parts = most;
    if (!has_entries(victim)) {
        const std::size_t left = items_of(victim);
        const std::size_t others = idle.searching - 1;  // without the caller
        parts = left - std::min(left, others);
    }
    wake_several(self, static_cast<std::uint32_t>(std::min<std::size_t>(parts, most)));
}

}  // namespace quern::detail
