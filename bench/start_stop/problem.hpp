// SPDX-License-Identifier: BSL-1.0
// start_stop: start the runtime, run one task, end the runtime so that none of its threads is left.
// Value: ms. A runtime that makes threads on demand may not have made any. No size.
#pragma once

#include "../harness/harness.hpp"

namespace bench::start_stop {

constexpr long k_answer = 42;

/// `life()` does all of it and returns the task's result.
template <class Life>
job lives(Life life) {
    return [life] {
        measurement m =
            timed(life, [](long answer) { expect_equal("the answer", answer, k_answer); });
        m.value *= 1e3;
        return m;
    };
}

}  // namespace bench::start_stop
