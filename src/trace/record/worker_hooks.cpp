// SPDX-License-Identifier: BSL-1.0
// The hooks of what workers do beside tasks: stealing, parking.
#include "record/lane_visit.hpp"

#include <utility>

namespace quern::trace::detail {

void pool_hooks::pass(worker& on, const message_info& what, std::uint64_t task,
                      tick_count at) noexcept {
    const auto* const hooks = on.home().hooks();  // pairs: take_up
    if (hooks == nullptr || hooks->waited != on_waited) {
        return;  // they are not of this layer
    }
    if (const visit v(*hooks, on); v) {
        for (sink* const s : v.at().sinks) {
            s->passed(what, task, at);
        }
    }
}

void pool_hooks::on_steal(self which, worker& thief, quern::detail::worker_shared& victim) {
    if (const visit v(which, thief); v) {
        for (sink* const s : v.at().sinks) {
            s->stole(thief.rank(), victim.rank(), quern::detail::ticks());
        }
    }
}

void pool_hooks::on_park(self which, worker& on) {
    if (const visit v(which, on); v) {
        v.at().parked_at = quern::detail::ticks();
        for (sink* const s : v.at().sinks) {
            s->parks(on.rank(), v.at().parked_at);
        }
    }
}

void pool_hooks::on_unpark(self which, worker& on) {
    const visit v(which, on);
    if (!v || v.at().parked_at == 0) {
        return;
    }
    const tick_count since = std::exchange(v.at().parked_at, tick_count{0});
    for (sink* const s : v.at().sinks) {
        s->parked(on.rank(), since, quern::detail::ticks());
    }
}

}  // namespace quern::trace::detail
