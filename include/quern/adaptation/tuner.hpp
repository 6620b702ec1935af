// SPDX-License-Identifier: BSL-1.0
// The tuner: asks which point to try next and is told what it cost. It never runs anything itself;
// tuned.hpp and region.hpp do that around a part of a program. The searches are in
// src/adaptation/strategies.
#pragma once

#include <quern/adaptation/detail/attach.hpp>
#include <quern/adaptation/space.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quern::adaptation {

/// How a tuner searches. n is the number of parameters.
enum class strategy : std::uint8_t {
    exhaustive,     ///< every point, once; parameters need cells
    random,         ///< the start, then points at random, until `most_trials`
    hill_climbing,  ///< the neighbours in each direction, then the best of them; halves its step
    nelder_mead,    ///< a simplex of n + 1 points, one trial at a time (Nelder and Mead 1965)
    parallel_rank_order,  ///< a simplex that is reflected as a whole, n trials at a time
                          ///< (Tabatabaee, Tiwari and Hollingsworth, SC 2005)
    simulated_annealing,  ///< one point that moves at random, less and less (Kirkpatrick 1983)
    model,                ///< one parameter, the grain of tasks: predicts from the parts of a cost
};

/// "nelder-mead".
std::string_view name_of(strategy which) noexcept;

/// Throws std::invalid_argument that lists the names, with the nearest match.
strategy strategy_named(std::string_view name);

/// The result of an earlier search in the same space. Without values: none.
struct remembered {
    std::vector<double> values{};  ///< of the best point
    double cost = 0;
    double confidence = 1;  ///< as tuner::confidence()
};

struct tuner_options {
    std::uint64_t seed = 1;       ///< equal seeds and costs give equal points
    unsigned repetitions = 1;     ///< trials of each point; its cost is their median
    std::size_t most_trials = 0;  ///< 0: 8 for model, 100 for random, else 10 000
    double tolerance = 0.05;      ///< a search ends when its step is below this share of the range
    /// After the search: if the median of five costs at the best point is above or below its cost
    /// by more than this share, the search starts again there. 0: never. Costs of 0 and below have
    /// no ratio and never drift.
    double drift = 0.3;
    /// For callers that tell what workers lost: a change of the cost counts if five further costs
    /// show it, for which wants_losses() is true. Until then costs after the search change nothing.
    bool confirms_drift = false;
    /// While the trials of all searches together have cost more than the best point would have, by
    /// more than this share of all costs told, ask() gives the best point. 1: no limit. For entries
    /// of equal work.
    double most_spent = 1;
};

/// What a trial cost. In any unit, less is better. A cost of +infinity says that the point does not
/// work. The parts, in the same unit, are what `model` computes with: for a grain they are the
/// workers' times in tasks, in the runtime and without work. All 0: unknown.
struct measured {
    double cost = 0;
    double running = 0;
    double overhead = 0;
    double idle = 0;
    /// Share of the workers' time that other programs, a quota or the hypervisor took, from 0 to
    /// below 1, and by how much it may be too large. The point is judged by the cost less what was
    /// surely lost.
    double lost = 0;
    double lost_error = 0;
};

/// A point to measure.
struct trial {
    point where{};
    std::uint64_t number = 0;
    bool is_search = false;  ///< false: the best point so far, while nothing else may be tried
    std::optional<double> expected{};  ///< its cost, as `model` predicts it
};

/// Several trials may be outstanding. Thread safe. After convergence every trial is the best point.
/// Memory: the latest 31 costs of each point that the present search has tried, and each trial
/// until it is told or discarded; nothing grows with the number of entries.
///
///     using namespace quern::adaptation;
///     tuner search(space({integer("tile", 8, 512, 8)}), strategy::hill_climbing);
///     while (!search.converged()) {
///         const trial next = search.ask();
///         search.tell(next, seconds_with_tile(next.where["tile"]));
///     }
///     std::puts(search.best().text().c_str());
class tuner {
public:
    /// With something `known`, the first trial is there, and it is the best before any result. What
    /// is known with little confidence is where the search begins. If
    /// it costs the same, within the drift, the search is over; else it begins there. Values that
    /// the space does not have are ignored. Throws std::invalid_argument for a strategy that cannot
    /// search this space, with the reason, and for options out of range.
    explicit tuner(space where, strategy how = strategy::nelder_mead, tuner_options options = {},
                   remembered known = {});
    ~tuner();
    tuner(tuner&&) noexcept;
    tuner& operator=(tuner&&) noexcept;

    /// ask() and tell() take some µs, after any number of them.
    trial ask();

    /// Throws std::invalid_argument for a trial that was not asked or is told already, for a cost
    /// that is NaN or -infinity, and for a lost share that is none; the trial is then still
    /// outstanding.
    void tell(const trial& done, double cost);
    void tell(const trial& done, const measured& result);

    /// The trial gives no result: its point is asked again later. Throws as tell().
    void discard(const trial& failed);
    /// The same, of a trial that took its time all the same: `cost` counts as spent by the search
    /// (tuner_options::most_spent). Throws as tell().
    void discard(const trial& failed, double cost);

    /// The point with the least median of its latest costs, never worse than the start; the start
    /// before the first result. When the search has started again, the earlier best until another
    /// point costs less than that one does now.
    point best() const;

    /// Its cost; +infinity before the first result.
    double best_cost() const;

    bool converged() const;

    /// How sure the best is: the share of their time that the workers got in the trials of the last
    /// search, as told; 0 before its end. Below 0.9 the search is repeated, the first time after 50
    /// entries.
    double confidence() const;

    /// Whether a result decides something, so that what the workers lost should be known: in a
    /// search, and while a change of the cost is confirmed.
    bool wants_losses() const;

    /// Trials of the search that have been told.
    std::size_t trials() const;

    /// How often the search has started again.
    std::size_t restarts() const;

    /// What the search does or why it has ended, in a sentence.
    std::string why() const;

    const space& where() const noexcept;

private:
    struct state;
    std::unique_ptr<state> m_state;
};

}  // namespace quern::adaptation
