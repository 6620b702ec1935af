// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <memory>

namespace bench::block_steps {

namespace {

void steps(data& x) {
    for (int step = 0; step < k_steps; ++step) {
        for (auto& each : x.first) {
            change(each);
        }
    }
}

const contender serial{"block_steps", "serial", [](const arguments& a) -> job {
                           return [x = std::make_shared<data>(a)] { return x->measured(steps); };
                       }};

}  // namespace

}  // namespace bench::block_steps
