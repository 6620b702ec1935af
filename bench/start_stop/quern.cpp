// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

namespace bench::start_stop {

namespace {

const contender own{"start_stop", "runtime", [](const arguments& a) {
                        return lives([a] {
                            const auto rt = quern_runtime(a);
                            return quern::async(*rt, [] { return k_answer; }).get();
                        });
                    }};

}  // namespace

}  // namespace bench::start_stop
