// SPDX-License-Identifier: BSL-1.0
// A recording in the format of Perfetto, for https://ui.perfetto.dev and its SQL.
#pragma once

#include <quern/trace/recording.hpp>

#include <iosfwd>

namespace quern::trace {

/// Writes TrackEvent protobuf: a thread track for each worker with the pieces of its tasks as
/// slices that nest where tasks are inlined, "parked" while it sleeps, "steal" as instants; pieces
/// of one task are connected by a flow, and the task that made another with that one's first piece,
/// for the first 100 of each piece. Counters become counter tracks, decisions instants; the place
/// of dropped events is marked. Errors are those of the stream. Cost: about 1 s and 50 MB for 10^6
/// slices.
///
///     std::ofstream out("run.pftrace", std::ios::binary);
///     quern::trace::write_perfetto(run, out);
void write_perfetto(const recording& run, std::ostream& to);

}  // namespace quern::trace
