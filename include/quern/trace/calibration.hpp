// SPDX-License-Identifier: BSL-1.0
// Task times of a program when run alone: recorded in a run on one worker, so that reports of later
// runs can show how much longer tasks take in parallel. A text file beside the program; `quern run
// --calibrate` sets `calibration` to have it written.
#pragma once

#include <quern/trace/recording.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace quern::trace {

struct one_core_time {
    std::string name;
    std::string location;
    std::uint64_t tasks = 0;
    double mean_ns = 0.0;
};

/// A plain value; empty if there is no calibration.
struct calibration {
    std::vector<one_core_time> sites;
    std::string fault;  ///< why a file was not used, with its path and line; empty if it was

    /// The entry of a site, or null. Matches name and location, else the only entry of that name,
    /// since lines move when a program is edited.
    const one_core_time* find(const site& of) const noexcept;
};

/// The calibration from a run on one worker. Throws std::invalid_argument for a recording of more
/// workers.
calibration calibration_of(const recording& run);

/// Writes the text of the file. Errors are those of the stream.
///
///     using namespace quern::trace;
///     std::ofstream file(default_calibration_path());
///     write_calibration(calibration_of(run), file);
void write_calibration(const calibration& times, std::ostream& to);

/// Reads the file. A missing file gives an empty value without a fault. A file that cannot be read,
/// is damaged, or has another format gives an empty value with a fault.
calibration read_calibration(const std::string& path);

/// Beside this program: "/home/me/heat.quern-calibration". Empty if the system does not report the
/// program's path.
std::string default_calibration_path();

}  // namespace quern::trace
