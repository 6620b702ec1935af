// SPDX-License-Identifier: BSL-1.0
// Writers of a recording for people: a self-contained HTML page, and the task tree as a graph. They
// escape all names, accept any recording, and never use the network.
#pragma once

#include <quern/trace/calibration.hpp>
#include <quern/trace/recording.hpp>

#include <iosfwd>
#include <string>

namespace quern::trace {

/// Writes one self-contained HTML file: the verdict (efficiency.hpp), lanes of the workers,
/// concurrency, sites, durations, counters, task tree, decisions. At most 10 MB up to 1000 workers:
/// excess data is summarised, and the page says so. Errors are those of the stream. Several threads
/// may write at the same time. Cost: about 1 s and 30 MB for 10^6 slices.
///
///     std::ofstream out("run.html");
///     quern::trace::write_page(run, out);
void write_page(const recording& run, std::ostream& out, const calibration& one_core = {});

/// The task tree in Graphviz's language: a node for each site, an edge for each pair of creating
/// and created site, with the number of tasks; the 2000 largest edges.
std::string write_dot(const recording& run);

}  // namespace quern::trace
