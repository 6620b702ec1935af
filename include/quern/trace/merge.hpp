// SPDX-License-Identifier: BSL-1.0
// Joins the traces of the processes of a job, such as the ranks of MPI, into one: `quern trace
// merge`. Each rank is a process in it, on a common clock, and an arrow leads from each sending of
// a message to its receipt.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/trace/job.hpp>

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace quern::trace {

struct merge_options {
    /// Whether traces of some ranks of the job may be missing.
    bool allows_missing = false;
    /// Told how much is done, 0 to 1, about a hundred times; may be empty.
    std::function<void(double share)> progress{};
};

/// Messages without the other end in the traces.
struct unmatched_messages {
    bool is_sent = false;  ///< they were sent and not received, or else the reverse
    int from = 0;          ///< ranks
    int to = 0;
    int tag = 0;
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
};

struct merged_rank {
    int rank = 0;
    std::string program{};
    unsigned traces = 0;  ///< one for each recorded runtime
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t dropped = 0;            ///< events for which a recording had no room
    std::vector<clock_reading> clocks{};  ///< in order of time; none: not compared
};

struct merged_traces {
    std::string job{};
    int ranks = 0;                       ///< of the job
    std::vector<merged_rank> by_rank{};  ///< of the traces
    std::uint64_t sent = 0;              ///< messages
    std::uint64_t received = 0;
    std::uint64_t arrows = 0;
    std::vector<unmatched_messages> unmatched{};  ///< the most messages first
    /// Receipts that the clocks put before the sending: drawn 1 ns after it.
    std::uint64_t moved = 0;
    std::uint64_t moved_most_ns = 0;
    std::uint64_t duration_ns = 0;  ///< from the first beginning to the last end
    std::uint64_t bytes = 0;        ///< written
};

/// Reads the traces at these paths, which runtimes wrote for their setting `trace` (perfetto.hpp)
/// in processes that told their place in a job (job.hpp), and writes one to the path `to`. A
/// message is matched by its context (the communicator), sender, receiver and tag, and among those
/// with the same by the order of posting on either side. A file `to` is replaced as a whole.
///
/// Times: each trace counts from its own beginning. Beginning and end are known on the clock of
/// its process, and how far that is from the clock of rank 0, so all times become those of rank 0.
/// If two readings of the clock, at initialising and at finalising MPI, differ by more than they
/// may be wrong, the difference is taken to change evenly between them; else the better one counts.
///
/// Errors: std::invalid_argument for no path; std::runtime_error that names the file for one that
/// cannot be read, is no trace, is truncated, says nothing of a job or has been merged; for a rank
/// twice, ranks of two jobs, a missing rank; if the result cannot be written. Thread safety:
/// several calls may run at a time. Cost: reads each file twice, one packet in memory at a time,
/// and keeps about 100 bytes for each message at either end.
///
///     const std::vector<std::string> paths{"run.0.pftrace", "run.1.pftrace"};
///     const quern::trace::merged_traces all = quern::trace::merge_traces(paths, "job.pftrace");
///     std::printf("%llu arrows\n", static_cast<unsigned long long>(all.arrows));
merged_traces merge_traces(std::span<const std::string> paths, const std::string& to,
                           const merge_options& options = {});

/// Writes a page (HTML, without scripts) of a merged trace: the workers of all ranks over time with
/// the messages between them, and tables of messages and clocks. At most 64 lanes and 2000 arrows
/// are drawn; the page says so. Errors: as those of reading in merge_traces(), and those of the
/// stream. Cost: reads the trace twice, about 100 kB for each lane.
///
///     const std::vector<std::string> paths{"run.0.pftrace", "run.1.pftrace"};
///     const quern::trace::merged_traces all = quern::trace::merge_traces(paths, "job.pftrace");
///     std::ofstream page("job.html");
///     quern::trace::write_job_page("job.pftrace", all, page);
void write_job_page(const std::string& merged, const merged_traces& what, std::ostream& to);

}  // namespace quern::trace
