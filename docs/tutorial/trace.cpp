// SPDX-License-Identifier: BSL-1.0
// Step 7 of the tutorial: a program that is worth recording.
#include <quern/quern.hpp>

#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

// One sweep over a bar whose ends are held at 0 and 1; returns the largest change.
double relax(const std::vector<double>& from, std::vector<double>& to) {
    const int last = static_cast<int>(from.size()) - 1;
    return quern::parallel_reduce(
        1, last, 0.0,
        [&](int i) {
            to[i] = (from[i - 1] + from[i + 1]) / 2;
            return std::abs(to[i] - from[i]);
        },
        [](double a, double b) { return a < b ? b : a; });
}

int main(int argc, char** argv) {
    return quern::main(argc, argv, [] {
        std::vector<double> bar(1'000'000, 0.0), next(bar);
        bar.back() = next.back() = 1.0;
        int sweeps = 0;
        double change = 1.0;
        while (change > 0.01) {
            // A name makes the task a kind of its own in tables and pictures.
            change = quern::async({.name = "sweep"}, relax, std::cref(bar), std::ref(next)).get();
            std::swap(bar, next);
            ++sweeps;
            quern::trace::sample("largest change", change);  // a curve over time
        }
        quern::trace::mark("converged");  // a mark in the picture
        std::printf("%d sweeps, largest change %.5f\n", sweeps, change);
    });
}
