// SPDX-License-Identifier: BSL-1.0
// Runs the program of a study again and again, each time with another grain or number of workers,
// and reads its counters. Repetitions are the outermost loop: a machine that changes its speed
// changes it for all grains, and who stops early has every grain.
#pragma once

#include "grain_study.hpp"

#include <optional>
#include <regex>
#include <string>

namespace quern::tool {

struct run_outcome {
    bool is_interrupted = false;
    std::string failure;  ///< empty, or why the runs have ended: to be printed as it is
};

/// Finds the execution time in what a program prints.
class time_pattern {
public:
    /// A regular expression (ECMAScript) with one group, the seconds; empty: not looked for. Throws
    /// usage_error.
    explicit time_pattern(const std::string& expression);

    /// NaN when nothing is looked for, nothing when it is not found.
    std::optional<double> find(const std::string& output) const;

private:
    std::optional<std::regex> m_expression;
};

/// Fills in the samples of `to`, whose grains, workers and repetitions say what to run. A program
/// that fails ends the runs; what was measured before stays. Throws usage_error when it cannot be
/// started.
run_outcome run_all(const command_template& command, const time_pattern& time, study& to);

}  // namespace quern::tool
