// SPDX-License-Identifier: BSL-1.0
// Non-blocking collective calls of Open MPI that do other than the blocking ones (4.1.4), as this
// layer makes them in place of these: corrected by their arguments. What is kept here must live
// until the operation has ended.
#pragma once

#include <mpi.h>

#include <vector>

namespace quern::mpi::detail {

/// MPI_Neighbor_alltoall and its relatives on a periodic Cartesian grid: where a dimension has one
/// or two ranks, both neighbours are one rank, and the non-blocking forms take the block for the
/// lower one for that of the upper one. Here the blocks to send change places there. Whether the
/// library needs it is found once, by a call of its own to itself.
class corrected_neighbours {
public:
    int alltoall(const void* from, int from_count, MPI_Datatype from_type, void* into,
                 int into_count, MPI_Datatype into_type, MPI_Comm comm, MPI_Request* made);
    int alltoallv(const void* from, const int* from_counts, const int* from_places,
                  MPI_Datatype from_type, void* into, const int* into_counts,
                  const int* into_places, MPI_Datatype into_type, MPI_Comm comm, MPI_Request* made);
    int alltoallw(const void* from, const int* from_counts, const MPI_Aint* from_places,
                  const MPI_Datatype* from_types, void* into, const int* into_counts,
                  const MPI_Aint* into_places, const MPI_Datatype* into_types, MPI_Comm comm,
                  MPI_Request* made);

private:
    /// Which block is sent to each neighbour. Empty: each its own.
    static std::vector<int> order_of(MPI_Comm comm);

    std::vector<int> m_from_counts{}, m_into_counts{}, m_places{};
    std::vector<MPI_Aint> m_from_places{}, m_into_places{};
    std::vector<MPI_Datatype> m_from_types{}, m_into_types{};
};

/// MPI_Alltoallv with a type of size 0: the non-blocking form waits for messages that are not sent
/// where the other side has the count 0. Such a type has nothing to send, so here its counts are 0.
class corrected_exchange {
public:
    int alltoallv(const void* from, const int* from_counts, const int* from_places,
                  MPI_Datatype from_type, void* into, const int* into_counts,
                  const int* into_places, MPI_Datatype into_type, MPI_Comm comm, MPI_Request* made);

private:
    std::vector<int> m_none{};  ///< counts of 0
};

}  // namespace quern::mpi::detail
