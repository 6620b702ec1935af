// SPDX-License-Identifier: BSL-1.0
// Runs the program of a study again and again, each time with another grain or number of workers,
// and reads its counters. Repetitions are the outermost loop: a machine that changes its speed
// changes it for all grains, and who stops early has every grain.
#pragma once

#include "grain_study.hpp"

#include <functional>
#include <string>

namespace quern::tool {

struct run_outcome {
    bool is_interrupted = false;
    std::string failure;  ///< empty, or why the runs have ended: to be printed as it is
};

/// Fills in the samples of `to`, whose grains, workers and repetitions say what to run. A program
/// that fails ends the runs; what was measured before stays. Throws usage_error when it cannot be
/// started.
run_outcome run_all(const command_template& command, study& to);

}  // namespace quern::tool
