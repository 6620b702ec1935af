// SPDX-License-Identifier: BSL-1.0
// What the tasks of a program take when they have the machine to themselves: kept from a run on one
// worker, so that reports of later runs can say how much longer they take beside others. A file
// of text beside the program: `quern run --calibrate` sets `calibration` to have it written.
#pragma once

#include <quern/trace/recording.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace quern::trace {

/// Of one site.
struct one_core_time {
    std::string name;
    std::string location;
    std::uint64_t tasks = 0;
    double mean_ns = 0.0;
};

/// A plain value; empty when nothing is known.
struct calibration {
    std::vector<one_core_time> sites;
    std::string fault;  ///< why a file was not used, with its path and line; empty when it was

    /// The entry of a site, or null: the same name at the same place, or else the only one of that
    /// name, for lines move when a program is edited.
    const one_core_time* find(const site& of) const noexcept;
};

/// What a run on one worker tells. Throws std::invalid_argument for a recording of more workers.
calibration calibration_of(const recording& run);

/// Writes the text of the file. Errors are those of the stream.
///
///     std::ofstream file(quern::trace::default_calibration_path());
///     quern::trace::write_calibration(quern::trace::calibration_of(run), file);
void write_calibration(const calibration& times, std::ostream& to);

/// Reads it. A file that is not there gives an empty value without a fault; one that cannot be
/// read, is damaged, or comes from something else gives an empty value whose fault says so.
calibration read_calibration(const std::string& path);

/// Beside this program: "/home/me/heat.quern-calibration". Empty when the system does not say where
/// the program is.
std::string default_calibration_path();

}  // namespace quern::trace
