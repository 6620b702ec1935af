// SPDX-License-Identifier: BSL-1.0
// Step 6 of the tutorial: performance counters, read in the program.
#include <quern/quern.hpp>

#include <atomic>
#include <cstdio>

std::atomic<long> steps = 0;

// A counter of the program's own. A static object, so that it is there before the runtime.
const auto kept =
    quern::counters::install("/app/steps", [] { return double(steps); }, {.help = "steps done"});

// One task makes a step: a thousand pseudo-random numbers.
void step(unsigned state) {
    for (int n = 0; n < 1000; ++n) {
        state = state * 1664525 + 1013904223;
    }
    if (state != 0) ++steps;
}

void simulate() {
    quern::task_group group;
    for (unsigned i = 0; i < 10'000; ++i) {
        group.run([i] { step(2 * i + 1); });
    }
    group.wait();
}

int main(int argc, char** argv) {
    return quern::main(argc, argv, [] {
        quern::counters::counter_set set;  // counts from now on, only for this reader
        set.add("/threads/count/cumulative");
        set.add("/threads/time/average");
        set.add("/threads/time/average-overhead");
        set.add("/app/steps");
        simulate();
        for (const auto& v : set.evaluate().values) {
            if (v.ok()) std::printf("%-52s %10.0f %s\n", v.name.c_str(), v.value, v.unit.c_str());
        }
    });
}
