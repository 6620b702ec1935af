// SPDX-License-Identifier: BSL-1.0
// What a rank that can do nothing by itself publishes: its waiting tasks and their calls, open
// requests, messages that have arrived and are not awaited, and its communicators. As JSON, which
// tools/quern/job/hang.cpp reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace quern::mpi::detail {

struct rank_place {
    int rank = 0;
    std::uint64_t version = 0;  ///< of what the rank has done so far
    bool with_words = false;    ///< which tasks wait, and where; may take some 100 ms
};

/// Of a rank that is still. Nothing if an operation has ended since engine_counts::ended was
/// `ended`, or the entrance is taken. Calls MPI, inside the entrance.
/// Requires: engine::is_shared().
std::optional<std::string> describe_waits(const rank_place& at, std::uint64_t ended);

/// Of a rank that makes no further calls. Does not call MPI.
std::string describe_finalised(const rank_place& at);

}  // namespace quern::mpi::detail
