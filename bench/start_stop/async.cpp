// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <thread>
#include <vector>

namespace bench::start_stop {

namespace {

/// As many threads as workers, one of which has work: the least that a pool can cost.
long life(int workers) {
    long answer = 0;
    {
        std::vector<std::jthread> threads;
        threads.emplace_back([&answer] { answer = k_answer; });
        for (int i = 1; i < workers; ++i) {
            threads.emplace_back([] {});
        }
    }
    return answer;
}

const contender threads{"start_stop", "threads", [](const arguments& a) {
                            return lives([workers = a.workers] { return life(workers); });
                        }};

}  // namespace

}  // namespace bench::start_stop
