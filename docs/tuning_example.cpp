// SPDX-License-Identifier: BSL-1.0
// The four ways to let a number choose itself, as docs/tuning.md shows them: a grain, a cut-off, a
// region with two numbers, and a tuner whose costs the program measures. Prints what each computed.
#include <quern/quern.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace {

constexpr int k_size = 400'000;
using row = std::vector<double>;

void scale(row& x, std::size_t grain) {
    quern::parallel_for(0, k_size, quern::grain::fixed(grain), [&](int i) { x[i] *= 1.0001; });
}

// [tuned]
void relax(row& x, int steps) {
    static quern::tuned<std::size_t> grain("relax.grain", {100, k_size / 2});
    for (int step = 0; step < steps; ++step) {
        const auto now = grain.enter();  // a trial, until the best value is found
        scale(x, now.value());
    }  // the end of `now` ends the measurement
    std::printf("relaxed %d times\n", steps);
}
// [tuned]

// [metric]
void relax_with_busy_workers(row& x, int steps) {
    const quern::adaptation::metric idle_rate{
        "idle-rate", [](const quern::adaptation::entry_times& took) {
            return 1 - took.workers.running_ns / took.workers.total_ns();
        }};
    static quern::tuned<std::size_t> grain(
        "relax.busy", {100, k_size / 2}, {},
        {.how = quern::adaptation::strategy::parallel_rank_order, .minimise = idle_rate});
    for (int step = 0; step < steps; ++step) {
        const auto now = grain.enter();
        scale(x, now.value());
    }
}
// [metric]

// [cutoff]
void sort(double* first, double* last) {
    static quern::cutoff small("sort");
    const double n = static_cast<double>(last - first);
    const auto halves = [&] {
        double* const middle = first + (last - first) / 2;
        quern::fork_join([&] { sort(first, middle); }, [&] { sort(middle, last); });
        std::inplace_merge(first, middle, last);
    };
    small(n * std::log2(n + 1), halves, [&] { std::sort(first, last); });  // how the work grows
}
// [cutoff]

double sum_in_tiles(const row& x, int rows, int columns) {
    return quern::parallel_reduce(
        0, k_size / (rows * columns), 0.0,
        [&](int tile) {
            const auto first = x.begin() + tile * rows * columns;
            return std::accumulate(first, first + rows * columns, 0.0);
        },
        std::plus<>());
}

// [region]
double sum_often(const row& x, int steps) {
    namespace adaptation = quern::adaptation;
    static adaptation::region part(
        "sum", adaptation::space({adaptation::power_of_two("rows", 2, 32),
                                  adaptation::choice("columns", {"10", "50", "100"})}));
    double sum = 0;
    for (int step = 0; step < steps; ++step) {
        const adaptation::region::entry now = part.enter();
        sum = sum_in_tiles(x, static_cast<int>(now.where()["rows"]),
                           std::atoi(now.where().word("columns").c_str()));
    }
    return sum;
}
// [region]

// [tuner]
long best_buffer(int bytes_at_once_least, int most) {
    namespace adaptation = quern::adaptation;
    adaptation::tuner search(
        adaptation::space({adaptation::power_of_two("buffer", bytes_at_once_least, most)}),
        adaptation::strategy::exhaustive);
    while (!search.converged()) {
        const adaptation::trial next = search.ask();
        const double buffer = next.where["buffer"];
        search.tell(next, 1e6 / buffer + buffer);  // what you measure: here a formula
    }
    return static_cast<long>(search.best()["buffer"]);
}
// [tuner]

}  // namespace

int main(int argc, char** argv) {
    return quern::main(argc, argv, [] {
        row x(k_size, 1.0);
        relax(x, 40);
        relax_with_busy_workers(x, 10);
        sort(x.data(), x.data() + x.size());
        std::printf("sorted: %s\n", std::is_sorted(x.begin(), x.end()) ? "yes" : "no");
        std::printf("sum: %.3f\n", sum_often(x, 30) / k_size);
        std::printf("the best buffer has %ld bytes\n", best_buffer(64, 65536));
    });
}
