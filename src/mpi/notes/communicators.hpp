// SPDX-License-Identifier: BSL-1.0
// The communicators of this process, for traces and for the report on a job that hangs: each has a
// number that is the same on all its ranks, made without messages. It is an attribute of the
// communicator: a hash of the number of the communicator from which it was made, of its members,
// and of how many with these members were made from there before. MPI demands that all members make
// communicators in one order, so they count alike. The numbers are made whether or not a trace is
// recorded, since that may begin later.
#pragma once

#include "notes/notes.hpp"

#include <quern/base/detail/relaxed.hpp>

#include <mpi.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace quern::mpi::detail {

/// Within which messages match, and the numbers in MPI_COMM_WORLD of those with which they are
/// exchanged.
struct channel {
    std::uint64_t context = 0;                      ///< of 48 bits; 0: not known
    std::shared_ptr<const std::vector<int>> peers;  ///< null: the ranks are those of MPI_COMM_WORLD

    int world_rank(int rank) const noexcept {
        return peers != nullptr && rank >= 0 && static_cast<std::size_t>(rank) < peers->size()
                   ? (*peers)[static_cast<std::size_t>(rank)]
                   : rank;
    }
};

/// A collective call.
struct collective_call {
    const char* name = nullptr;
    int root = call_note::k_none;
    std::int64_t bytes = -1;
    std::uint64_t place = 0;  ///< its number on the communicator, from 1
};

/// A communicator of whose number it is certain that all its ranks have the same (README.md,
/// "Hangs of a job").
struct known_comm {
    static constexpr std::size_t k_kept = 8;

    channel where{};  ///< Invariant: the peers, which are its members, are not null
    /// Null: MPI_Comm_idup or a function inside MPI has made it, and it has not been looked up.
    quern::detail::relaxed<MPI_Comm> handle = MPI_COMM_NULL;
    // While the job is watched:
    std::uint64_t calls = 0;                     ///< collective calls so far
    std::array<collective_call, k_kept> last{};  ///< the call of place p at p % k_kept
};

/// After MPI was initialised.
void begin_numbering();
/// Before MPI is finalised: all_known() keeps what MPI drops from now on.
void end_numbering() noexcept;

/// Which ranks a function that makes a communicator from another one needs.
enum class made_by : std::uint8_t {
    all_members,  ///< of that other one
    some
};

/// For functions that make a communicator from another one, in the entrance: numbers the new one.
/// Returns `code`.
int has_made(MPI_Comm from, const MPI_Comm* made, made_by whom, int code) noexcept;

/// PMPI_Comm_free or PMPI_Comm_disconnect, in the entrance. From now on all_known() leaves the
/// communicator out: MPI may keep it until pending operations end, but its handle must not be used.
int free_known(MPI_Comm* comm, int (*free)(MPI_Comm*));

/// In the entrance, or while no runtime lives.
channel channel_of(MPI_Comm comm) noexcept;

/// Null if the number is not certain. In the entrance, or while no runtime lives. Valid until the
/// communicator is freed.
const known_comm* find_known(MPI_Comm comm) noexcept;

/// Those whose numbers are certain and that have not been freed. Does not call MPI.
std::vector<known_comm> all_known();

/// A collective call is about to be posted, in a job that is watched: gives the note its place. In
/// the entrance, or while no runtime lives.
void count_collective(call_note& note) noexcept;

}  // namespace quern::mpi::detail
