// SPDX-License-Identifier: BSL-1.0
// The communicators of this rank and what has been called on them, for the report on a job that
// hangs. MPI gives a communicator no name that all its ranks share, so each gets a number from how
// it was made. Kept only while the job is watched (job_watch.hpp).
#pragma once

#include "operation.hpp"

#include <quern/base/detail/spin_lock.hpp>

#include <mpi.h>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace quern::mpi::detail {

/// A handle as a number: a pointer or an integer, as the library has it.
inline std::uint64_t number_of(const void* handle) noexcept {
    return reinterpret_cast<std::uintptr_t>(handle);
}
inline std::uint64_t number_of(int handle) noexcept { return static_cast<std::uint64_t>(handle); }

/// A collective call.
struct collective_call {
    const char* name = nullptr;
    int root = call_note::k_none;
    std::int64_t bytes = -1;
    std::uint64_t place = 0;  ///< its number on the communicator, from 1
};

struct known_comm {
    static constexpr std::size_t k_kept = 8;

    MPI_Comm handle = MPI_COMM_NULL;
    std::uint64_t id = 0;        ///< the same on all its ranks; not 0
    std::vector<int> members{};  ///< ranks of MPI_COMM_WORLD, in the order of its own ranks
    std::uint64_t calls = 0;     ///< collective calls so far
    std::uint64_t children = 0;  ///< communicators made from it so far
    std::array<collective_call, k_kept> last{};  ///< the call of place p at p % k_kept
};

/// A call in terms that all ranks share.
struct shared_note {
    static constexpr int k_any = -1;
    static constexpr int k_none = -2;  ///< no peer, or one that is no rank of MPI_COMM_WORLD

    enum class way : std::uint8_t {
        sent,
        received,
        collective,
        other  ///< may end by itself, as far as is known here
    };

    const char* call = "";
    way how = way::other;
    std::uint64_t comm = 0;  ///< known_comm::id, or 0: not known
    int peer = k_none;       ///< rank of MPI_COMM_WORLD
    int tag = k_none;        ///< or k_any
    std::int64_t bytes = -1;
    int root = k_none;        ///< of a collective call, as rank of the communicator
    std::uint64_t place = 0;  ///< of a collective call on its communicator
};

/// Thread safe.
class known_comms {
public:
    static known_comms& of_process() noexcept;

    /// MPI_COMM_WORLD and MPI_COMM_SELF. Calls MPI.
    void begin();
    /// `child` has been made from `parent` by a call that is collective over the parent. Calls MPI.
    void made(MPI_Comm parent, MPI_Comm child);
    void freed(MPI_Comm comm) noexcept;

    /// A collective call is about to be posted. Gives the note its place. Calls MPI.
    void begins(call_note& note) noexcept;

    /// Calls MPI.
    shared_note shared(const call_note& note) noexcept;
    std::vector<known_comm> all();

private:
    known_comm* find(MPI_Comm comm) noexcept;  ///< under the lock

    quern::detail::spin_lock m_lock;
    std::unordered_map<std::uint64_t, known_comm> m_all;
};

/// The bytes of the buffer of a call, or -1. Calls MPI.
std::int64_t bytes_of_buffer(const call_note& note) noexcept;

}  // namespace quern::mpi::detail
