// SPDX-License-Identifier: BSL-1.0
// A part of a program that is entered again and again and tunes itself: each entry is a trial of a
// tuner, measured from its beginning to its end.
#pragma once

#include <quern/adaptation/tuner.hpp>
#include <quern/scheduler/runtime.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace quern::adaptation {

/// What an entry took.
struct entry_times {
    double seconds = 0;       ///< wall time
    double work = 1;          ///< as entry::work() has been told
    worker_totals workers{};  ///< of the active workers of the entry's pool, together
};

/// What a search makes least instead of the wall time of a unit of work. `cost` is called at the
/// end of each entry, on its thread, without a lock. +infinity says that the point does not work.
/// An exception, NaN or -infinity makes the entry no trial, which is said on stderr once.
///
///     const quern::adaptation::metric idle_rate{
///         "idle-rate", [](const quern::adaptation::entry_times& took) {
///             return 1 - took.workers.running_ns / took.workers.total_ns();
///         }};
struct metric {
    std::string name{};  ///< in the log of decisions, and in the key of what is remembered
    std::function<double(const entry_times&)> cost{};
};

struct region_options {
    strategy how = strategy::nelder_mead;
    tuner_options search{};
    std::optional<metric> minimise{};  ///< none: the wall time
    std::string unit{};                ///< of the tuned value in the log of decisions: "points"
    /// A trial whose workers lost more than this share of their time to other programs, a quota or
    /// the hypervisor is repeated, four times in a search at most, but for the first trial. 0:
    /// never, and losses are not looked at.
    double most_lost = 0.02;
    /// As tuner_options::most_spent, whichever is less: what the search may add to the program's
    /// time. Of a metric, which is no time, there is no such limit.
    double most_spent = 0.1;
};

/// The cost of an entry is its wall time divided by its work, or a metric; the parts are the times
/// of the active workers of the caller's pool. With the setting adapt=off every entry gets the
/// start and nothing is measured; with dry-run every entry gets the start, and what would be tried
/// is logged.
///
/// A wall time is judged less what the workers lost meanwhile, and so is a drift: a program beside
/// this one starts no search. A result that was found beside one is searched again later, also by
/// the next run that remembers it (tuner::confidence).
///
/// Each new value is a decision (decisions.hpp): trials, the choice when the search is over, and
/// any later change. Their expected and observed costs are ratios to the cost of the first trial of
/// the search, if that is above 0. Drift, and what is remembered for the next run, also need a cost
/// above 0.
///
/// Thread safety: entries may overlap, but then each also measures the others' work.
/// Cost: of an entry some 5 µs, after any number of them. To see what the workers lost 10 µs per
/// worker, of entries of 2 ms and longer 200 µs more: while it searches, and of five entries after
/// each change of the cost.
///
///     using namespace quern::adaptation;
///     region solve("solve", space({power_of_two("tile", 8, 512)}));
///     for (int step = 0; step < steps; ++step) {
///         region::entry now = solve.enter();
///         solve_in_tiles_of(now.where()["tile"]);
///     }
class region {
public:
    /// Throws as the tuner does; std::invalid_argument for an empty name, for a metric without a
    /// name or function, and for a metric with the strategy `model`, which computes with wall time;
    /// std::runtime_error for a metric where the workers' times are not measured.
    region(std::string name, space where, region_options options = {});
    ~region();
    region(region&&) noexcept;
    region& operator=(region&&) noexcept;

    /// One execution. Its destructor ends the trial; an exception that leaves the entry, or
    /// discard(), makes it no trial. It must not outlive the region.
    class entry {
    public:
        ~entry();
        entry(entry&&) noexcept;
        entry& operator=(entry&&) = delete;

        const point& where() const noexcept;

        /// How much is done, in any unit, if entries differ in that. Throws std::invalid_argument
        /// unless it is above 0.
        void work(double units);

        void discard() noexcept;

    private:
        friend class region;
        struct state;
        explicit entry(std::unique_ptr<state> made) noexcept;
        std::unique_ptr<state> m_state;
    };

    /// On the pool of the calling task, or of the default runtime.
    [[nodiscard]] entry enter();

    const std::string& name() const noexcept;
    point best() const;
    bool converged() const;
    double confidence() const;     ///< as tuner::confidence()
    std::size_t trials() const;    ///< of the search, without repeated ones
    std::size_t repeated() const;  ///< because workers lost time
    std::string why() const;

private:
    struct state;
    std::unique_ptr<state> m_state;
};

}  // namespace quern::adaptation
