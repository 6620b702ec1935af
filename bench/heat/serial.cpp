// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <memory>

namespace bench::heat {

namespace {

void loop(std::size_t n, const std::function<void(std::size_t)>& f) {
    for (std::size_t i = 0; i < n; ++i) {
        f(i);
    }
}

/// The whole ring is one partition.
void sweep(rings& r) {
    for (int step = 1; step <= r.steps(); ++step) {
        const ring::partition all{r.grid(step - 1), r.points()};
        ring::advance(all, all, all, r.grid(step));
    }
}

const contender here{"heat", "serial", [](const arguments& a) -> job {
                         return [r = std::make_shared<rings>(a)] {
                             return measured(*r, loop, [&] { sweep(*r); });
                         };
                     }};

}  // namespace

}  // namespace bench::heat
