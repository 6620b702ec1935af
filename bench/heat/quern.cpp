// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

#include <memory>

namespace bench::heat {

namespace {

void loop(std::size_t n, const std::function<void(std::size_t)>& f) {
    quern::parallel_for(std::size_t{0}, n, quern::grain::fixed(1), f);
}

void with_loop(rings& r) {
    for (int step = 1; step <= r.steps(); ++step) {
        quern::parallel_for(std::size_t{0}, r.partitions(),
                            [&](std::size_t i) { r.advance(i, step); });
    }
}

using step_futures = std::vector<quern::shared_future<ring::partition>>;

/// A task needs the three nearest partitions of the previous step. Only these three read the data
/// that it overwrites.
step_futures describe(rings& r, const step_futures& before, int step) {
    const std::size_t count = before.size();
    step_futures described(count);
    for (std::size_t i = 0; i < count; ++i) {
        double* const out = r.grid(step) + i * r.partition_size();
        described[i] = quern::dataflow(
            quern::unwrapping([out](const ring::partition& left, const ring::partition& middle,
                                    const ring::partition& right) {
                return ring::advance(left, middle, right, out);
            }),
            before[(i + count - 1) % count], before[i], before[(i + 1) % count]);
    }
    return described;
}

void wait_for(const step_futures& step) {
    for (const auto& each : step) {
        each.wait();
    }
}

/// Describes at most eight steps more than are done, to limit memory.
void with_dataflow(rings& r) {
    constexpr int k_half_window = 4;
    step_futures current;
    for (std::size_t i = 0; i < r.partitions(); ++i) {
        current.push_back(quern::make_ready_future(r.part(i, 0)));
    }
    step_futures milestone;
    for (int step = 1; step <= r.steps(); ++step) {
        current = describe(r, current, step);
        if (step % k_half_window == 0) {
            wait_for(milestone);
            milestone = current;
        }
    }
    wait_for(current);
}

template <class Sweep>
job checked(const arguments& a, std::size_t partition, Sweep sweep) {
    return quern_job(a, [r = std::make_shared<rings>(a, partition), sweep] {
        return measured(*r, loop, [&] { sweep(*r); });
    });
}

const contender parallel_for{"heat", "parallel_for", [](const arguments& a) {
                                 return checked(a, rings::k_block, with_loop);
                             }};
const contender small{"heat", "dataflow_10000",
                      [](const arguments& a) { return checked(a, 10'000, with_dataflow); }};
const contender large{"heat", "dataflow_100000",
                      [](const arguments& a) { return checked(a, 100'000, with_dataflow); }};

}  // namespace

}  // namespace bench::heat
