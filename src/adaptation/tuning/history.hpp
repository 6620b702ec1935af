// SPDX-License-Identifier: BSL-1.0
// What searches have found in earlier runs: a text file, one line for each search. Above a MiB it
// is cut to the latest results. Regions read it when they begin and add to it when they converge.
#pragma once

#include <quern/adaptation/tuner.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace quern::adaptation::detail {

/// What a search is about. All of it must agree for a result to be used again.
struct history_key {
    std::string name;
    std::string size;     ///< names of the parameters, and the order of magnitude of their ranges
    std::string machine;  ///< processor and number of CPUs
    unsigned workers = 0;
    std::string build;  ///< changes with the program's file
};

history_key key_of(const std::string& name, const space& where, unsigned workers);

/// The file in which this process remembers; empty: none. Read at the next recall().
void remember_in(const std::string& path);

/// The last result with that key. What cannot be used is said on stderr once, with the reason.
std::optional<remembered> recall(const history_key& key);

/// Appends a line; several processes may do so. Failure is said on stderr. A file that is no
/// history, or of a newer version, is not written to. A file above a MiB keeps the latest line of
/// each key, as far as they fit into half of that. A cost that is not above 0 and finite is
/// not kept: nothing could be compared with it.
void remember(const history_key& key, const remembered& found, std::size_t trials);

}  // namespace quern::adaptation::detail
