// SPDX-License-Identifier: BSL-1.0
// Curves of cost over grain, for searches: synthetic ones, of the shape of a real program with
// known parts, and a recorded one. Used by the tests of the tuner and by bench/tuner.
#pragma once

#include <quern/adaptation/tuner.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

namespace quern_test {

/// Numbers for a seed, the same on every machine (splitmix64).
class random_draws {
public:
    explicit random_draws(std::uint64_t seed) : m_state(seed * 0x9e3779b97f4a7c15U) {}
    double uniform(double low = 0, double high = 1) {
        std::uint64_t z = (m_state += 0x9e3779b97f4a7c15U);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return low + (high - low) * static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }
    double by_ratio(double low, double high) { return low * std::pow(high / low, uniform()); }

private:
    std::uint64_t m_state;
};

/// The cost of one element in ns of worker time. In bodies: `body`, more where a task's data
/// exceeds a cache. Overhead: per task. Idle: the elements of the last tasks of a step, for which
/// other workers wait.
struct grain_curve {
    explicit grain_curve(std::uint64_t seed) {
        random_draws draw(seed);
        elements = draw.by_ratio(1e6, 1e9);
        workers = std::floor(draw.by_ratio(2, 128));
        body = draw.by_ratio(0.3, 30);
        task = draw.by_ratio(200, 2000);
        inflation = draw.uniform() < 0.5 ? 0 : draw.uniform(0, 0.4);
        cache = draw.by_ratio(1e4, 1e6);
        tail = draw.uniform(0.1, 1);
        least = std::max(100.0, std::floor(elements / 1e6));
        most = std::floor(elements / 2);
    }

    quern::adaptation::measured at(double grain) const {
        quern::adaptation::measured m;
        const double over = grain * grain / (grain * grain + cache * cache);
        m.running = body * (1 + inflation * over);
        m.overhead = task / grain;
        // Whole rounds of tasks: the last round is not full.
        const double per_worker = elements / workers;
        m.idle = m.running * tail * grain / per_worker;
        m.cost = m.running + m.overhead + m.idle;
        return m;
    }

    double least_cost() const {
        double cost = at(least).cost;
        for (double g = least; g <= most; g *= 1.02) {
            cost = std::min(cost, at(g).cost);
        }
        return cost;
    }

    std::string text() const {
        return std::to_string(elements) + " elements of " + std::to_string(body) + " ns, " +
               std::to_string(workers) + " workers, " + std::to_string(task) + " ns a task, " +
               std::to_string(inflation) + " more above " + std::to_string(cache);
    }

    double elements, workers, body, task, inflation, cache, tail, least, most;
};

/// heat with 10^7 points and 100 steps on two cores, as `quern grain` measured it; see
/// docs/grain.md.
struct recorded_curve {
    struct row {
        double grain, seconds, overhead_us, idle;  ///< per task; share of all time
    };
    static constexpr row k_rows[] = {
        {160, 2.615, 0.43, 0.169},       {500, 1.006, 0.55, 0.036},
        {1'000, 0.6499, 0.47, 0.022},    {5'000, 0.4167, 0.49, 0.009},
        {20'000, 0.3580, 0.55, 0.007},   {50'000, 0.3566, 0.72, 0.009},
        {200'000, 0.3913, 1.39, 0.008},  {1'000'000, 0.4230, 2.72, 0.010},
        {5'000'000, 0.4217, 4.70, 0.013}};
    double least = k_rows[0].grain;
    double most = std::end(k_rows)[-1].grain;

    quern::adaptation::measured at(double grain) const {
        std::size_t i = 1;
        while (i + 1 < std::size(k_rows) && k_rows[i].grain < grain) {
            ++i;
        }
        const row& a = k_rows[i - 1];
        const row& b = k_rows[i];
        const double share =
            std::clamp(std::log(grain / a.grain) / std::log(b.grain / a.grain), 0.0, 1.0);
        const auto between = [share](double x, double y) {
            return std::exp(std::log(x) * (1 - share) + std::log(y) * share);
        };
        quern::adaptation::measured m;
        m.cost = between(a.seconds, b.seconds);
        m.idle = m.cost * between(a.idle, b.idle);
        constexpr double k_points = 1e9;  // updates
        m.overhead = between(a.overhead_us, b.overhead_us) / 1e6 * k_points / grain / 2;
        m.running = m.cost - m.idle - m.overhead;
        return m;
    }
    double least_cost() const {
        double cost = at(least).cost;
        for (double g = least; g <= most; g *= 1.02) {
            cost = std::min(cost, at(g).cost);
        }
        return cost;
    }
    std::string text() const { return "recorded"; }
};

/// A measurement that other programs disturbed: up to `noise` longer, usually less.
inline quern::adaptation::measured disturbed(quern::adaptation::measured m, random_draws& draw,
                                             double noise) {
    const double u = draw.uniform();
    const double longer = 1 + noise * u * u + noise * 0.1 * draw.uniform(-1, 1);
    m.running *= longer;
    m.overhead *= longer;
    m.idle *= longer;
    m.cost *= longer;
    return m;
}

struct found_grain {
    std::size_t trials = 0;
    double distance = 0;  ///< true cost at the choice, divided by the least
    double grain = 0;
};

template <class Curve>
found_grain search_grain(const Curve& curve, quern::adaptation::strategy how, double start,
                         std::uint64_t seed, double noise,
                         quern::adaptation::tuner_options options = {}) {
    namespace qa = quern::adaptation;
    options.seed = seed;
    random_draws draw(seed ^ 0x5555);
    qa::tuner search(qa::space({qa::integer("grain", static_cast<std::int64_t>(curve.least),
                                            static_cast<std::int64_t>(curve.most))
                                    .by_ratio()
                                    .starting_at(start)}),
                     how, options);
    while (!search.converged()) {
        const qa::trial next = search.ask();
        search.tell(next, disturbed(curve.at(next.where["grain"]), draw, noise));
    }
    const double grain = search.best()["grain"];
    return {search.trials(), curve.at(grain).cost / curve.least_cost(), grain};
}

}  // namespace quern_test
