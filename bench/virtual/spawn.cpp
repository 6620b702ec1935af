// SPDX-License-Identifier: BSL-1.0
#include "spawn.hpp"

#include "simulation.hpp"

#include <stdexcept>

namespace virtual_time {
namespace {

struct null_task {
    std::uint64_t operator()(fork_place) const noexcept { return 1; }
};

}  // namespace

spawn_result simulate_spawn(const costs& c, const rules& r, unsigned workers, long tasks,
                            std::uint64_t seed) {
    simulation all(c, r, workers, seed);
    std::uint64_t done = 0;
    const long untimed = tasks / 4;  // first, as in the benchmark
    const run_figures run = all.run([&](fork_place place) {
        scope<null_task> s(place);
        for (long i = 0; i < untimed; ++i) {
            s.spawn({});
        }
        s.join_all();
        all.begin_timing();
        for (long i = 0; i < tasks; ++i) {
            s.spawn({});
        }
        done = s.join_all();
        all.end_timing();
    });
    if (done != static_cast<std::uint64_t>(tasks + untimed)) {
        throw std::logic_error("spawn: " + std::to_string(done) + " tasks have run");
    }
    const double count = static_cast<double>(tasks + untimed);
    spawn_result result;
    result.ns_per_task = static_cast<double>(run.took) * 1e-3 / static_cast<double>(tasks);
    result.stolen = static_cast<double>(run.stolen) / count;
    result.answers = 1000 * static_cast<double>(all.workers().workers[0]->counted.answers) / count;
    result.parks = run.parks;
    result.suspensions = run.suspensions;
    result.counted = run.counted;
    return result;
}

}  // namespace virtual_time
