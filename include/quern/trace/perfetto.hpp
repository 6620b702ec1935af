// SPDX-License-Identifier: BSL-1.0
// A recording in Perfetto's format, for https://ui.perfetto.dev and its SQL.
#pragma once

#include <quern/trace/recording.hpp>

#include <iosfwd>

namespace quern::trace {

/// Writes TrackEvent protobuf. Each worker is a thread track with task pieces as slices (nested if
/// tasks are inlined), "parked" while it sleeps, and "steal" as instants. A flow connects the
/// pieces of a task, and the creating task with its first piece, for the first 100 of each piece.
/// Counters become counter tracks, decisions instants; dropped events are marked. Errors are those
/// of the stream. Cost: about 1 s and 50 MB for 10^6 slices.
///
///     std::ofstream out("run.pftrace", std::ios::binary);
///     quern::trace::write_perfetto(run, out);
void write_perfetto(const recording& run, std::ostream& to);

}  // namespace quern::trace
