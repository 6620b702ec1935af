// SPDX-License-Identifier: BSL-1.0
// The search for a grain that computes instead of trying. The cost of a unit of work is that of the
// tasks' bodies, plus the runtime's time, which falls as 1 / grain, plus the time that workers lack
// work, which grows with the grain. One trial tells all three, as shares of one measurement, so a
// disturbed machine changes them little. They give the finest grain whose overhead is small; there
// the data of a task is also most likely to be in a cache. A few further trials check that.
#include "strategies/search.hpp"

#include <quern/base/detail/text.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace quern::adaptation::detail {

namespace {

constexpr double k_overhead = 0.02;  // of the time in bodies: what may be lost to tasks (chosen)
constexpr double k_farthest =
    1.0 / 256;                    // towards finer grains at once: overhead may be too small to see
constexpr double k_near = 1.5;    // grains within this ratio are not told apart
constexpr double k_finer = 4;     // from the grain to its finer neighbour
constexpr double k_coarser = 16;  // and to the coarser one, if that leaves few workers idle
constexpr double k_gain = 0.03;   // smaller differences of cost are not worth another grain
constexpr double k_step = 1.1;    // of the grid on which the least predicted cost is searched
constexpr double k_most_idle = 0.2;  // of the time, as predicted for a trial
constexpr double k_idle = 0.05;      // of the time: idleness that is worth a finer grain

/// Trials of one grain.
struct grain_trials {
    double grain = 0;
    measured sum{};
    std::vector<double> costs{};

    /// The least: other programs only make a trial longer.
    double cost() const {
        return costs.empty() ? 0 : *std::min_element(costs.begin(), costs.end());
    }
    /// A grain told as +infinity has no parts to compute with.
    bool works() const { return !costs.empty() && std::isfinite(cost()); }
    double overhead() const { return sum.running > 0 ? sum.overhead / sum.running : 0; }
    /// A part of the cost of this grain.
    double per_work(double measured::*part) const {
        const double all = sum.running + sum.overhead + sum.idle;
        return all > 0 ? cost() * (sum.*part) / all : 0;
    }
    double idle_share() const {
        const double all = sum.running + sum.overhead + sum.idle;
        return all > 0 ? sum.idle / all : 0;
    }
};

class grain_model {
public:
    explicit grain_model(const parameter& of) : m_of(of) {}

    double within(double grain) const { return std::clamp(grain, m_of.least(), m_of.most()); }

    /// Requires: it is known.
    const grain_trials& at(double grain) const { return *find(grain); }
    bool knows(double grain) const { return find(grain) != m_all.end(); }
    bool works(double grain) const { return at(grain).works(); }

    /// The first trial of all is slower than it will be, its data being new to the caches: another
    /// one of that grain replaces it.
    void add(double grain, const measured& result) {
        if (!knows(grain)) {
            m_all.push_back({.grain = cell_of(grain)});
        }
        grain_trials& all = m_all[static_cast<std::size_t>(find(grain) - m_all.begin())];
        if (all.grain == m_first_grain) {
            m_first_grain = 0;
            all = {.grain = all.grain};
        } else if (m_all.size() == 1 && all.costs.empty()) {
            m_first_grain = all.grain;
        }
        all.costs.push_back(result.cost);
        all.sum.running += result.running;
        all.sum.overhead += result.overhead;
        all.sum.idle += result.idle;
    }

    /// The finest grain whose overhead is small, by what was measured at that grain.
    double finest(double from) const {
        return within(from * std::max(at(from).overhead() / k_overhead, k_farthest));
    }

    /// Where idleness, which grows with the grain, and overhead cost the same.
    double balanced(double from) const {
        const grain_trials& here = at(from);
        return here.sum.idle <= 0 ? from
                                  : within(from * std::sqrt(here.sum.overhead / here.sum.idle));
    }

    /// A coarser grain to compare with: idleness grows with it, and should stay below a fifth.
    double coarser(double from) const {
        const double idle = std::max(idle_by_grain(from), 1e-3);
        return within(from * std::clamp(k_most_idle / idle, k_finer, k_coarser));
    }
    /// The share of idleness that a finer grain would not have: serial parts leave workers idle at
    /// each grain.
    double idle_by_grain(double of) const {
        double least = at(of).idle_share();
        for (const grain_trials& each : m_all) {
            if (each.works() && each.grain < at(of).grain) {
                least = std::min(least, each.idle_share());
            }
        }
        return m_all.size() > 1 ? at(of).idle_share() - least : at(of).idle_share();
    }
    double coarsest() const {
        return std::max_element(m_all.begin(), m_all.end(),
                                [](auto& a, auto& b) { return a.grain < b.grain; })
            ->grain;
    }

    /// The next grain to try where the coarsest one costs as much as the best and leaves few
    /// workers idle: overhead that is not measured as such may hide beyond. Else the coarsest
    /// itself.
    double beyond_level() const {
        const grain_trials& last = at(coarsest());
        const bool is_level =
            last.works() && idle_by_grain(last.grain) < k_idle &&
            last.cost() <= at(best_of(last.grain)).cost() * (1 + std::max(k_gain, noise()));
        return is_level ? coarser(last.grain) : last.grain;
    }

    /// How far the two shortest trials of one grain are apart, at most: differences below are
    /// noise. A third one that is much longer says nothing about these.
    double noise() const {
        double most = 0;
        for (const grain_trials& each : m_all) {
            if (each.works() && each.costs.size() > 1) {
                std::vector<double> costs = each.costs;
                std::nth_element(costs.begin(), costs.begin() + 1, costs.end());
                most = std::max(most, costs[1] / each.cost() - 1);
            }
        }
        return most;
    }

    /// That of the least cost, unless it gains little. Noise is no reason to stay: of two grains
    /// the one that was measured to be shorter is more likely to be.
    double best_of(double current) const {
        double best = current;
        for (const grain_trials& each : m_all) {
            if (each.cost() * (1 + k_gain) < at(best).cost()) {
                best = each.grain;
            }
        }
        return best;
    }

    request wants(double grain) const { return wants(std::span(&grain, 1)); }
    request wants(std::span<const double> grains) const {
        request next;
        next.anew = true;
        for (const double each : grains) {
            next.points.push_back({m_of.coordinate_of(each)});
            next.expected.push_back(expected(cell_of(each)));
        }
        return next;
    }

    /// The cost of a grain as predicted from those that work; nothing without one. The overhead of
    /// a task is taken to be that at the nearest grain.
    std::optional<double> expected(double grain) const {
        const std::vector<grain_trials> known = working();
        if (known.empty()) {
            return std::nullopt;
        }
        const auto distance = [grain](const grain_trials& each) {
            return std::abs(std::log(each.grain / grain));
        };
        const grain_trials& nearest =
            *std::min_element(known.begin(), known.end(),
                              [&](auto& a, auto& b) { return distance(a) < distance(b); });
        return interpolated(known, grain) + overhead_of_task(nearest) / grain;
    }

    /// The grain of least cost between those measured: bodies and idleness interpolated over the
    /// logarithm of the grain, overhead computed.
    double predicted_best(double current) const {
        double best = best_of(current);
        if (!works(best)) {
            return best;
        }
        const std::vector<grain_trials> known = working();
        const double task = overhead_of_task(at(works(current) ? current : best));
        double least = at(best).cost() / (1 + std::max(k_gain, noise()));
        for (double grain = known.front().grain; grain < known.back().grain; grain *= k_step) {
            const double cost = interpolated(known, grain) + task / grain;
            if (cost < least) {
                least = cost;
                best = grain;
            }
        }
        return best;
    }

private:
    /// The value of the space that a grain stands for.
    double cell_of(double grain) const { return m_of.value_at(m_of.coordinate_of(grain)); }
    std::vector<grain_trials>::const_iterator find(double grain) const {
        return std::find_if(m_all.begin(), m_all.end(),
                            [value = cell_of(grain)](auto& each) { return each.grain == value; });
    }

    /// From the finest to the coarsest.
    std::vector<grain_trials> working() const {
        std::vector<grain_trials> found;
        std::copy_if(m_all.begin(), m_all.end(), std::back_inserter(found),
                     [](const grain_trials& each) { return each.works(); });
        std::sort(found.begin(), found.end(), [](auto& a, auto& b) { return a.grain < b.grain; });
        return found;
    }
    static double overhead_of_task(const grain_trials& at) {
        return at.per_work(&measured::overhead) * at.grain;
    }

    /// Bodies and idleness at a grain; beyond the last ones, as there. Between two grains bodies
    /// change with the logarithm of the grain, since caches have levels, and idleness with the
    /// grain. Requires: sorted, not empty.
    static double interpolated(const std::vector<grain_trials>& sorted, double grain) {
        const auto after = std::find_if(sorted.begin(), sorted.end(),
                                        [&](auto& each) { return each.grain >= grain; });
        const grain_trials& finer = after == sorted.begin() ? *after : *(after - 1);
        const grain_trials& coarser = after == sorted.end() ? sorted.back() : *after;
        if (finer.grain == coarser.grain) {
            return finer.per_work(&measured::running) + finer.per_work(&measured::idle);
        }
        const auto between = [&](double measured::*part, double share) {
            return finer.per_work(part) * (1 - share) + coarser.per_work(part) * share;
        };
        return between(&measured::running,
                       std::log(grain / finer.grain) / std::log(coarser.grain / finer.grain)) +
               between(&measured::idle, (grain - finer.grain) / (coarser.grain - finer.grain));
    }

    const parameter& m_of;
    std::vector<grain_trials> m_all{};
    double m_first_grain = 0;  ///< of the first trial, until it is replaced
};

std::string words_of(const grain_trials& at, const parameter& of) {
    return "at " + of.name() + " " + of.text_of(at.grain) + " overhead is " +
           quern::detail::percent_words(at.overhead()) + " of the time in tasks, idleness " +
           quern::detail::percent_words(at.idle_share()) + " of all time";
}

}  // namespace

search follow_model(setup given) {
    const parameter& of = given.parameters.front();
    grain_model model(of);
    const std::size_t limit = given.most_trials;
    std::size_t trials = 0;
    const double first = of.value_at(given.start.front());
    model.add(first, (co_await model.wants(first)).front());
    ++trials;

    // Towards the finest grain with little overhead; twice if the first estimate was far off, as
    // it is where tasks were so short that most of their cost is not seen as overhead.
    double here = first;
    for (int moves = 0; moves < 2 && trials < limit; ++moves) {
        const double next = model.finest(here);
        if (std::max(next / here, here / next) < k_near || model.knows(next)) {
            break;
        }
        model.add(next, (co_await model.wants(next)).front());
        ++trials;
        here = model.at(next).grain;
    }
    // Too few tasks for the workers: a compromise with overhead.
    if (model.at(here).idle_share() > k_idle && trials < limit) {
        const double next = model.balanced(here);
        if (next * k_near < here && !model.knows(next)) {
            model.add(next, (co_await model.wants(next)).front());
            ++trials;
            here = model.best_of(here);
        }
    }
    // Neighbours on both sides, measured in turn with the grain itself, so that a slow minute of
    // the machine affects all. A coarser one shows overhead that is not seen as such; a finer one
    // shows bodies that take less time because their data fits into a cache.
    if (trials + 3 <= limit) {
        const double grains[] = {model.within(here / k_finer), here, model.coarser(here)};
        const auto results = co_await model.wants(grains);
        for (std::size_t i = 0; i < results.size(); ++i) {
            model.add(grains[i], results[i]);
            ++trials;
        }
    }
    while (trials < limit) {
        double next = model.predicted_best(here);
        if (next > here && next == model.coarsest()) {
            next = model.coarser(next);  // as far as it becomes better
        }
        if (model.knows(next)) {
            next = model.beyond_level();
        }
        if (model.knows(next)) {
            break;
        }
        model.add(next, (co_await model.wants(next)).front());
        ++trials;
    }
    // Another grain that seems better may seem so by noise: once more, in turn.
    const double better = model.best_of(here);
    if (better != here && model.noise() > k_gain && trials + 2 <= limit) {
        const double grains[] = {here, better};
        const auto results = co_await model.wants(grains);
        model.add(here, results[0]);
        model.add(better, results[1]);
    }
    here = model.best_of(here);
    co_return ending{words_of(model.at(here), of), coordinates{of.coordinate_of(here)}};
}

}  // namespace quern::adaptation::detail
