// SPDX-License-Identifier: BSL-1.0
// The hooks of what workers do beside tasks: stealing, parking.
#include "tap_visit.hpp"

#include <utility>

namespace quern::trace::detail {

void tap::on_steal(self which, worker& thief, worker& victim) {
    if (const visit v(which, thief); v) {
        for (sink* const s : v.at().sinks) {
            s->stole(thief.rank(), victim.rank(), quern::detail::ticks());
        }
    }
}

void tap::on_park(self which, worker& on) {
    if (const visit v(which, on); v) {
        v.at().parked_at = quern::detail::ticks();
    }
}

void tap::on_unpark(self which, worker& on) {
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
