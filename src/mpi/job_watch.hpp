// SPDX-License-Identifier: BSL-1.0
// Tells `quern run -n` when this rank can do nothing by itself: it publishes a state, over a
// channel of its own. Only all ranks together know that the job hangs; tools/quern/job_hang.cpp
// decides. Without that command nothing is watched, and calls cost one load more. Argument:
// README.md, section "Hangs of a job".
#pragma once

#include "known_comms.hpp"
#include "open_requests.hpp"
#include "operation.hpp"

#include <mpi.h>
#include <atomic>

namespace quern::mpi::detail {

extern std::atomic<bool> g_is_watched;
/// A call whose effects are not known here, or null. Such a rank is never taken for stuck.
extern std::atomic<const char*> g_unknown_call;

/// Relaxed: it changes in MPI_Init and MPI_Finalize only.
inline bool is_watched() noexcept { return g_is_watched.load(std::memory_order_relaxed); }

/// In the life of MPI in this process, by the thread that calls MPI_Init and MPI_Finalize.
void watch_job() noexcept;          ///< MPI has been initialised
void job_is_finalising() noexcept;  ///< this rank makes no further calls
void job_is_finalised() noexcept;

/// Before a collective call is posted. Requires: the caller may call MPI.
inline void begin_collective(call_note& note) noexcept {
    if (note.is_collective && is_watched()) [[unlikely]] {
        known_comms::of_process().begins(note);
    }
}

/// A call has given a request. Calls MPI.
inline void note_request(const call_note& what, MPI_Request made) noexcept {
    if (is_watched()) [[unlikely]] {
        open_requests::of_process().add(made, what);
    }
}

inline void note_unknown_call(const char* name) noexcept {
    g_unknown_call.store(name, std::memory_order_relaxed);
}

/// Passes a code on; if it tells success, `child` has been made from `parent`.
int note_made(MPI_Comm parent, const MPI_Comm* child, int code) noexcept;
/// A communicator is about to be freed.
void note_freed(MPI_Comm comm) noexcept;

}  // namespace quern::mpi::detail
