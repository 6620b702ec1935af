// SPDX-License-Identifier: BSL-1.0
// Whether `quern run -n` watches this job (job/job_watch.hpp), and what calls note for it. In a job
// that is not watched a call costs one load more.
#pragma once

#include "notes/communicators.hpp"
#include "notes/notes.hpp"

#include <atomic>

namespace quern::mpi::detail {

inline constinit std::atomic<bool> g_is_watched{false};
/// A call whose effects are not known here, or null. Such a rank is never taken for stuck.
inline constinit std::atomic<const char*> g_unknown_call{nullptr};

/// Relaxed: it changes in MPI_Init and MPI_Finalize only.
inline bool is_watched() noexcept { return g_is_watched.load(std::memory_order_relaxed); }

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
