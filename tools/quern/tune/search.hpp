// SPDX-License-Identifier: BSL-1.0
// The search of `quern tune`: asks a tuner for points, runs the program there, and keeps every run.
// Then runs the best point and the start alternately, because the best of many noisy points looks
// better than it is. Knows nothing of the command line; tune_report.hpp writes the result.
#pragma once

#include "tune/words.hpp"

#include <quern/adaptation/tuner.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace quern::tool {

struct tune_plan {
    std::vector<adaptation::parameter> parameters{};
    program_words program{};
    adaptation::strategy strategy = adaptation::strategy::nelder_mead;
    unsigned repetitions = 3;
    std::size_t most_trials = 0;  ///< 0: the tuner's default
    std::uint64_t seed = 1;
    unsigned pairs = 5;                ///< runs of best and start after the search
    std::optional<std::regex> cost{};  ///< its first group, in a line of output; none: wall time
    double timeout_s = std::numeric_limits<double>::infinity();
    double cut = std::numeric_limits<double>::infinity();  ///< times the best median
};

struct tune_run {
    enum class kind : std::uint8_t { worked, failed, timed_out, cut, interrupted };
    std::size_t number = 0;  ///< from 1
    unsigned pair = 0;       ///< after the search, from 1; 0: a run of the search
    adaptation::point where{};
    kind how = kind::worked;
    double seconds = 0;    ///< wall time
    double cost = 0;       ///< infinite if it did not work; of a run that was cut: at least that
    std::string status{};  ///< "ok", "exit status 3", "timeout", "cut", …
};

/// A point with its runs of the search.
struct tried_point {
    adaptation::point where{};
    std::vector<double> costs{};
    std::size_t cut = 0;  ///< so many of the costs are lower bounds
    bool works = true;

    double median() const;
    /// Whether its median is a cost and not a lower bound.
    bool is_known() const;
};

struct tune_result {
    adaptation::point start{};
    std::vector<tune_run> runs{};
    std::vector<tried_point> tried{};
    std::string why{};      ///< the search ended
    std::string failure{};  ///< of the start point; else empty
    std::string output{};   ///< the end of the output of the run that failed
    int signal = 0;         ///< that interrupted it

    tried_point* find(const adaptation::point& where);
    const tried_point* find(const adaptation::point& where) const;

    /// The point with the least median, of those with all `repetitions` if there are any; none
    /// before the first result.
    const tried_point* best(unsigned repetitions) const;
};

/// "tile=64, order=rows" has cost 1.23, in words: "1.23 s" of wall time, else the number.
std::string cost_text(const tune_plan& plan, double cost);

/// Gets a line about a run, and all runs so far.
using after_run = std::function<void(const std::string&, const tune_result&)>;

/// Runs the whole search. Calls `after_each` after each run that was not interrupted.
tune_result search(const tune_plan& plan, const after_run& after_each);

/// Lower median; infinite without values.
double median_of(std::vector<double> values);

}  // namespace quern::tool
