// SPDX-License-Identifier: BSL-1.0
// Reads what a Quern program prints with --quern:print-counter-format=json: a line for each time
// that it prints, an object each. Used by commands that run programs and look at their counters.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace quern::tool {

/// One line: all the counters of one moment.
struct counter_reading {
    double time_s = 0;
    unsigned workers = 0;  ///< how many have counters of their own; 0: none has
    /// Of the whole program, "/threads/time/average" → value, in seconds, as a ratio (1 is all of
    /// it) or a plain number, by the counter's unit.
    std::map<std::string, double> totals;
    std::map<std::string, std::string>
        missing;  ///< of the whole program: name → why it has no value

    /// NaN when there is none.
    double total(const std::string& name) const;
};

/// The reading at the end of the program: where several runtimes have written, that of the one with
/// the most tasks. Nothing when the file is not there or empty. Throws std::runtime_error that
/// names file and line for anything else than such lines.
std::optional<counter_reading> read_counter_log(const std::string& path);

}  // namespace quern::tool
