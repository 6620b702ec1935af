// SPDX-License-Identifier: BSL-1.0
// bench-tuner: how many trials each search of the tuner needs for a grain, and how far from the
// best it ends, on 1000 synthetic curves and a recorded one with noise. NLopt's Nelder-Mead
// searches the same curves. Everything is computed from seeds, so the figures are the same on every
// machine.
#include "support/grain_curves.hpp"

#include <quern/adaptation/tuner.hpp>

#include <fmt/format.h>

#ifdef QUERN_BENCH_NLOPT
#    include <nlopt.h>
#endif

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using quern::adaptation::strategy;
using quern_test::found_grain;

constexpr double k_noises[] = {0, 0.05, 0.1, 0.2, 0.3};
constexpr double k_aim = 1.05;            // of the least cost
constexpr std::size_t k_most_trials = 8;  // of the aim

template <class Number>
Number quantile(std::vector<Number> values, double q) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

#ifdef QUERN_BENCH_NLOPT
template <class Curve>
struct nlopt_state {
    const Curve& curve;
    quern_test::random_draws draw;
    double noise;
    std::size_t trials = 0;

    double grain_at(double x) const {
        return curve.least * std::pow(curve.most / curve.least, std::clamp(x, 0.0, 1.0));
    }
};

/// Over the logarithm of the grain, with the tolerance of our searches.
template <class Curve>
found_grain search_by_nlopt(const Curve& curve, double start, std::uint64_t seed, double noise) {
    nlopt_state<Curve> state{curve, quern_test::random_draws(seed ^ 0x5555), noise};
    nlopt_opt search = nlopt_create(NLOPT_LN_NELDERMEAD, 1);
    nlopt_set_lower_bounds1(search, 0);
    nlopt_set_upper_bounds1(search, 1);
    nlopt_set_initial_step1(search, 0.25);
    nlopt_set_xtol_abs1(search, 0.05);
    nlopt_set_maxeval(search, 1000);
    nlopt_set_min_objective(
        search,
        [](unsigned, const double* x, double*, void* data) {
            auto& s = *static_cast<nlopt_state<Curve>*>(data);
            ++s.trials;
            return quern_test::disturbed(s.curve.at(s.grain_at(*x)), s.draw, s.noise).cost;
        },
        &state);
    double x = std::log(start / curve.least) / std::log(curve.most / curve.least);
    double cost = 0;
    nlopt_optimize(search, &x, &cost);
    nlopt_destroy(search);
    const double grain = state.grain_at(x);
    return {state.trials, curve.at(grain).cost / curve.least_cost(), grain};
}
#endif

void print_row(std::string_view name, const std::vector<found_grain>& all) {
    std::vector<std::size_t> trials;
    std::vector<double> distances;
    std::size_t good = 0;
    for (const found_grain& each : all) {
        trials.push_back(each.trials);
        distances.push_back(each.distance);
        good += each.trials <= k_most_trials && each.distance <= k_aim ? 1U : 0U;
    }
    fmt::print("  {:<24} {:>7} {:>5} {:>9.3f} {:>7.3f} {:>7.3f} {:>9.1f} %\n", name,
               quantile(trials, 0.5), quantile(trials, 1.0), quantile(distances, 0.5),
               quantile(distances, 0.95), quantile(distances, 1.0),
               100 * static_cast<double>(good) / static_cast<double>(all.size()));
}

/// `curve_of(seed)` gives a curve; half of the searches begin at each end of it.
template <class CurveOf>
void compare(std::string_view title, std::uint64_t seeds, CurveOf curve_of) {
    for (const double noise : k_noises) {
        fmt::print("\n{}, noise up to {:.0f} %\n  {:<24} {:>7} {:>5} {:>9} {:>7} {:>7} {:>11}\n",
                   title, 100 * noise, "search", "trials", "most", "distance", "95 %", "most",
                   "aim met");
        for (const strategy how :
             {strategy::model, strategy::hill_climbing, strategy::nelder_mead,
              strategy::parallel_rank_order, strategy::simulated_annealing, strategy::random}) {
            std::vector<found_grain> all;
            for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
                const auto curve = curve_of(seed);
                all.push_back(quern_test::search_grain(
                    curve, how, seed % 2 == 0 ? curve.least : curve.most, seed, noise,
                    {.most_trials = how == strategy::random ? k_most_trials : 0}));
            }
            print_row(how == strategy::random ? "random, 8 trials" : name_of(how), all);
        }
#ifdef QUERN_BENCH_NLOPT
        std::vector<found_grain> all;
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            const auto curve = curve_of(seed);
            all.push_back(
                search_by_nlopt(curve, seed % 2 == 0 ? curve.least : curve.most, seed, noise));
        }
        print_row("NLopt Nelder-Mead", all);
#else
        fmt::print("  NLopt Nelder-Mead: unavailable (libnlopt-dev is not installed)\n");
#endif
    }
}

int usage(std::string_view word) {
    fmt::print(stderr,
               "bench-tuner: '{}'; accepted: --seeds N, N a whole number from 1 to 1000000\n",
               word);
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    std::uint64_t seeds = 1000;
    for (int i = 1; i < argc; ++i) {
        const std::string_view word(argv[i]);
        const std::string_view value = word == "--seeds" && i + 1 < argc ? argv[++i] : "";
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seeds);
        if (error != std::errc{} || end != value.data() + value.size() || seeds < 1 ||
            seeds > 1'000'000) {
            return usage(word == "--seeds" ? value : word);
        }
    }
    fmt::print(
        "{} seeds; aim: within {:.0f} % of the least cost after at most {} trials; half of "
        "the searches begin at each end of the range\n",
        seeds, 100 * (k_aim - 1), k_most_trials);
    compare("synthetic curves", seeds,
            [](std::uint64_t seed) { return quern_test::grain_curve(seed); });
    compare("recorded curve of heat", seeds,
            [](std::uint64_t) { return quern_test::recorded_curve(); });
    return 0;
}
