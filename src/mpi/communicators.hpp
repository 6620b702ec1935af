// SPDX-License-Identifier: BSL-1.0
// Communicators as traces know them: by a number that is the same on all ranks of the communicator,
// and made without messages. It is an attribute of the communicator: a hash of the number of the
// communicator from which it was made, of its members, and of how many with these members were made
// from there before. MPI demands that all members make communicators in one order, so they count
// alike. The numbers are made whether or not a trace is recorded, since that may begin later.
#pragma once

#include <mpi.h>
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

/// After MPI was initialised.
void begin_numbering();

/// For functions that make a communicator from another one, in the entrance: numbers the new one.
/// Returns `code`.
int has_made(MPI_Comm from, const MPI_Comm* made, int code) noexcept;

/// In the entrance, or while no runtime lives.
channel channel_of(MPI_Comm comm) noexcept;

/// The same, entering MPI where that is necessary.
channel find_channel(MPI_Comm comm) noexcept;

}  // namespace quern::mpi::detail
