// SPDX-License-Identifier: BSL-1.0
// Which thread or task is in MPI, so that a function that MPI calls (an error handler, an operator,
// a callback of an attribute) may call MPI and may wait. README.md, section "Callbacks".
#pragma once

#include <quern/base/detail/function_ref.hpp>

#include <cstdint>

namespace quern::detail {
class context;
}

namespace quern::mpi::detail {

/// While it lives the caller, which holds the entrance, is in MPI. A task does not leave its worker
/// meanwhile: the locks of the library belong to threads.
class inside_mpi {
public:
    /// `call`: the call that is begun, or null: those that have begun are tested.
    explicit inside_mpi(const char* call) noexcept;
    inside_mpi(const inside_mpi&) = delete;
    inside_mpi& operator=(const inside_mpi&) = delete;
    ~inside_mpi();

private:
    quern::detail::context* m_pinned = nullptr;
};

/// While it lives the calling thread is in MPI beside the holder of the entrance, by a call without
/// a non-blocking twin under MPI_THREAD_MULTIPLE.
class beside_mpi {
public:
    beside_mpi() noexcept;
    beside_mpi(const beside_mpi&) = delete;
    beside_mpi& operator=(const beside_mpi&) = delete;
    ~beside_mpi();
};

/// Whether the caller is a function that MPI has called while its caller held the entrance.
bool is_within_mpi() noexcept;
/// The same, of a call beside the holder.
bool is_within_call_beside() noexcept;

/// For reports, by any thread.
struct inside_now {
    std::uintptr_t holder;  ///< as a lock's holder; 0: none is in MPI
    std::uint64_t turn;     ///< rises with each one that begins
    const char* call;       ///< see inside_mpi
    bool operator==(const inside_now&) const = default;
};
inside_now look_inside() noexcept;

/// Calls f(), which calls MPI. An exception in it comes from a function that MPI has called, and
/// cannot pass through the library: it ends the process, with words. `call` as for inside_mpi.
void run_guarded(const char* call, quern::detail::function_ref<void()> f) noexcept;

/// The same with an inside_mpi.
void run_inside(const char* call, quern::detail::function_ref<void()> f) noexcept;

}  // namespace quern::mpi::detail
