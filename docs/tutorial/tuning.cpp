// SPDX-License-Identifier: BSL-1.0
// Step 10 of the tutorial: the number of points of a task chooses itself while the program runs.
#include <quern/quern.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int k_points = 400'000;

// One step in tasks of so many points each.
void step(std::vector<double>& x, int points_per_task) {
    quern::task_group group;
    for (int first = 0; first < k_points; first += points_per_task) {
        group.run([&x, first, last = std::min(first + points_per_task, k_points)] {
            for (int i = first; i < last; ++i) {
                x[i] = std::sqrt(x[i] + 1);
            }
        });
    }
    group.wait();
}

int main(int argc, char** argv) {
    return quern::main(argc, argv, [] {
        std::vector<double> x(k_points, 0.0);
        quern::tuned<int> grain("step.points", {100, k_points}, 100);  // begins with 4000 tasks
        int steps = 0;
        while (steps < 40 || (!grain.converged() && steps < 1000)) {
            auto now = grain.enter();  // the measurement of this step
            step(x, now.value());
            ++steps;
        }
        std::printf("x[0] = %.4f\n", x[0]);
    });
}
