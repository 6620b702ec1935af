// SPDX-License-Identifier: BSL-1.0
// Printing the counters of a whole job: a layer that connects its processes reads the printers of
// all, and lets one of them print what all have read. Thread safe if not said otherwise.
#pragma once

#include <quern/counters/counter.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace quern::counters::detail {

/// What a pattern says of localities, and the same pattern for a single process, which is
/// locality 0: "1" and "/threads{locality#0/total}/idle-rate".
struct job_pattern {
    std::string localities;  ///< a pattern of numbers; empty: the pattern does not say
    std::string at_one;
};
/// Throws std::invalid_argument for a malformed pattern.
job_pattern take_apart(std::string_view pattern);
/// A message about `at_one`, with what the pattern says of localities.
std::string words_as_written(const std::string& message, const job_pattern& pattern);

/// With the locality's number in place of 0.
std::string name_at_locality(const std::string& name, int locality);

/// Whether print-counter names counters that the runtime has, and a place where they are printed.
bool prints_counters(const runtime& of) noexcept;

/// From now on, at intervals, the printer of the runtime prints what `read` gives, of a job of so
/// many localities; nothing if it is empty, elsewhere than at the root. `read` is called on the
/// thread for time, and may wait for tasks.
void print_for_job(const runtime& of, int localities, std::function<snapshot()> read) noexcept;
/// No more at intervals; waits for a call of `read`.
void end_intervals(const runtime& of) noexcept;
/// What is printed when the runtime ends, in place of a reading of its own; none: nothing.
void print_at_end(const runtime& of, std::optional<snapshot> last) noexcept;

/// A reading of what print-counter names of that locality, with its number in the names. One caller
/// at a time.
snapshot read_for_job(const runtime& of, int locality);

}  // namespace quern::counters::detail
