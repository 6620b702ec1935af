// SPDX-License-Identifier: BSL-1.0
// Tells `quern run -n` when this rank can do nothing by itself: it publishes a state, over a
// channel of its own. Only all ranks together know that the job hangs; tools/quern/job_hang.cpp
// decides. Without that command nothing is watched, and calls cost one load more. Argument:
// README.md, section "Hangs of a job".
#pragma once

#include "communicators.hpp"
#include "operation.hpp"

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

/// MPI_Abort has been called, by any thread: the starter may end other ranks before this one.
void job_is_aborted(int code) noexcept;

/// Before a collective call is posted. Requires: the caller may call MPI.
inline void begin_collective(call_note& note) noexcept {
    if (note.is_collective && is_watched()) [[unlikely]] {
        count_collective(note);
    }
}

inline void note_unknown_call(const char* name) noexcept {
    g_unknown_call.store(name, std::memory_order_relaxed);
}

}  // namespace quern::mpi::detail
