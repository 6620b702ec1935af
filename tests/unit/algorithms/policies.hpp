// SPDX-License-Identifier: BSL-1.0
// Shared by the tests of the parallel algorithms: the policies, sizes and data that every algorithm
// is tried with, against the serial one of the standard.
#pragma once

#include <quern/algorithms/execution.hpp>
#include <quern/task/future.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace quern_test {

/// Calls check(run) for every policy, where run(call) returns the result of call(policy), of the
/// future if that is one.
template <class Check>
void for_every_policy(Check&& check) {
    const auto direct = [](auto policy) {
        return [policy](auto&& call) -> decltype(auto) { return call(policy); };
    };
    check(direct(quern::seq));
    check(direct(quern::unseq));
    check(direct(quern::par));
    check(direct(quern::par_unseq));
    check([](auto&& call) { return call(quern::par(quern::as_future)).get(); });
}

/// The lengths of ranges.
inline std::vector<std::size_t> sizes() {
    return {0, 1, 2, 3, 17, 1000, scaled<std::size_t>(100'003, 20'003)};
}

/// `n` numbers in [0, range), the same ones in each run.
std::vector<int> numbers(std::size_t n, int range = 1'000'000);

/// A case runs on 1, 2 and 8 workers, for every policy, in a task and outside of tasks.
class on_policies : public on_runtime {
protected:
    /// Calls check(run, data) with random data of every size, for every policy, as a task.
    template <class Check>
    void compare(Check check, int range = 1'000'000) {
        inside([&] {
            for (const std::size_t n : sizes()) {
                const std::vector<int> data = numbers(n, range);
                for_every_policy([&](const auto& run) { check(run, data); });
            }
        });
    }
};

}  // namespace quern_test
