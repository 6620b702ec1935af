// SPDX-License-Identifier: BSL-1.0
// The program of docs/localities.md; tests/docs compares what it prints.
#include <quern/localities/run_at.hpp>
#include <quern/quern.hpp>

#include <cstdio>
#include <vector>

double part_of_pi(int first, int last, int steps) {
    const double width = 1.0 / steps;
    return quern::parallel_reduce(
        first, last, 0.0,
        [width](int i) {
            const double x = (i + 0.5) * width;
            return 4 * width / (1 + x * x);
        },
        [](double a, double b) { return a + b; });
}

int main(int argc, char** argv) {
    if (!quern::take_command_line(argc, argv)) {
        return 0;
    }
    // Every locality runs main, and makes the session.
    const quern::localities::session job(argc, argv);
    if (quern::localities::here() == quern::localities::root) {
        constexpr int k_steps = 10'000'000;
        const int count = quern::localities::count();
        std::vector<quern::future<double>> parts;
        for (const int each : quern::localities::all()) {
            parts.push_back(quern::localities::run_at(each, &part_of_pi, k_steps / count * each,
                                                      k_steps / count * (each + 1), k_steps));
        }
        double pi = 0;
        for (quern::future<double>& part : parts) {
            pi += part.get();
        }
        std::printf("%d localities: pi is about %.6f\n", count, pi);
    }
    // The end of the session waits for the end of the job: meanwhile this locality runs calls.
}
