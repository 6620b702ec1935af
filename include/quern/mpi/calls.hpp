// SPDX-License-Identifier: BSL-1.0
// MPI's functions by the names that programs of Quern use: quern::mpi::send is MPI_Send, with the
// same arguments, results and errors. All other functions keep MPI's names.
#pragma once

#include <mpi.h>

namespace quern::mpi {

// Where this layer is linked before the MPI library, these functions, as all of MPI's, suspend the
// calling task while they wait for other ranks (docs/mpi.md). Thread safety: any task or thread, at
// any time between initialising and finalising; MPI_THREAD_SERIALIZED is enough.

inline constexpr auto& send = MPI_Send;
inline constexpr auto& bsend = MPI_Bsend;
inline constexpr auto& ssend = MPI_Ssend;
inline constexpr auto& rsend = MPI_Rsend;
inline constexpr auto& recv = MPI_Recv;
inline constexpr auto& isend = MPI_Isend;
inline constexpr auto& ibsend = MPI_Ibsend;
inline constexpr auto& issend = MPI_Issend;
inline constexpr auto& irsend = MPI_Irsend;
inline constexpr auto& irecv = MPI_Irecv;
inline constexpr auto& sendrecv = MPI_Sendrecv;
inline constexpr auto& sendrecv_replace = MPI_Sendrecv_replace;
inline constexpr auto& send_init = MPI_Send_init;
inline constexpr auto& bsend_init = MPI_Bsend_init;
inline constexpr auto& ssend_init = MPI_Ssend_init;
inline constexpr auto& rsend_init = MPI_Rsend_init;

inline constexpr auto& recv_init = MPI_Recv_init;
inline constexpr auto& start = MPI_Start;
inline constexpr auto& startall = MPI_Startall;
inline constexpr auto& probe = MPI_Probe;
inline constexpr auto& iprobe = MPI_Iprobe;
inline constexpr auto& mprobe = MPI_Mprobe;
inline constexpr auto& improbe = MPI_Improbe;
inline constexpr auto& mrecv = MPI_Mrecv;
inline constexpr auto& imrecv = MPI_Imrecv;

inline constexpr auto& wait = MPI_Wait;
inline constexpr auto& waitall = MPI_Waitall;
inline constexpr auto& waitany = MPI_Waitany;
inline constexpr auto& waitsome = MPI_Waitsome;
inline constexpr auto& test = MPI_Test;
inline constexpr auto& testall = MPI_Testall;
inline constexpr auto& testany = MPI_Testany;
inline constexpr auto& testsome = MPI_Testsome;
inline constexpr auto& request_free = MPI_Request_free;
inline constexpr auto& request_get_status = MPI_Request_get_status;
inline constexpr auto& cancel = MPI_Cancel;

inline constexpr auto& barrier = MPI_Barrier;
inline constexpr auto& bcast = MPI_Bcast;
inline constexpr auto& gather = MPI_Gather;
inline constexpr auto& gatherv = MPI_Gatherv;
inline constexpr auto& scatter = MPI_Scatter;
inline constexpr auto& scatterv = MPI_Scatterv;
inline constexpr auto& allgather = MPI_Allgather;
inline constexpr auto& allgatherv = MPI_Allgatherv;
inline constexpr auto& alltoall = MPI_Alltoall;
inline constexpr auto& alltoallv = MPI_Alltoallv;
inline constexpr auto& alltoallw = MPI_Alltoallw;
inline constexpr auto& reduce = MPI_Reduce;
inline constexpr auto& allreduce = MPI_Allreduce;
inline constexpr auto& reduce_scatter = MPI_Reduce_scatter;

inline constexpr auto& reduce_scatter_block = MPI_Reduce_scatter_block;
inline constexpr auto& scan = MPI_Scan;
inline constexpr auto& exscan = MPI_Exscan;
inline constexpr auto& neighbor_allgather = MPI_Neighbor_allgather;
inline constexpr auto& neighbor_allgatherv = MPI_Neighbor_allgatherv;
inline constexpr auto& neighbor_alltoall = MPI_Neighbor_alltoall;
inline constexpr auto& neighbor_alltoallv = MPI_Neighbor_alltoallv;
inline constexpr auto& neighbor_alltoallw = MPI_Neighbor_alltoallw;

inline constexpr auto& ibarrier = MPI_Ibarrier;
inline constexpr auto& ibcast = MPI_Ibcast;
inline constexpr auto& igather = MPI_Igather;
inline constexpr auto& igatherv = MPI_Igatherv;
inline constexpr auto& iscatter = MPI_Iscatter;
inline constexpr auto& iscatterv = MPI_Iscatterv;
inline constexpr auto& iallgather = MPI_Iallgather;
inline constexpr auto& iallgatherv = MPI_Iallgatherv;
inline constexpr auto& ialltoall = MPI_Ialltoall;
inline constexpr auto& ialltoallv = MPI_Ialltoallv;
inline constexpr auto& ialltoallw = MPI_Ialltoallw;
inline constexpr auto& ireduce = MPI_Ireduce;
inline constexpr auto& iallreduce = MPI_Iallreduce;

inline constexpr auto& ireduce_scatter = MPI_Ireduce_scatter;
inline constexpr auto& ireduce_scatter_block = MPI_Ireduce_scatter_block;
inline constexpr auto& iscan = MPI_Iscan;
inline constexpr auto& iexscan = MPI_Iexscan;
inline constexpr auto& ineighbor_allgather = MPI_Ineighbor_allgather;
inline constexpr auto& ineighbor_allgatherv = MPI_Ineighbor_allgatherv;
inline constexpr auto& ineighbor_alltoall = MPI_Ineighbor_alltoall;
inline constexpr auto& ineighbor_alltoallv = MPI_Ineighbor_alltoallv;

inline constexpr auto& ineighbor_alltoallw = MPI_Ineighbor_alltoallw;

inline constexpr auto& comm_dup = MPI_Comm_dup;
inline constexpr auto& comm_idup = MPI_Comm_idup;
inline constexpr auto& comm_split = MPI_Comm_split;
inline constexpr auto& comm_create = MPI_Comm_create;
inline constexpr auto& comm_free = MPI_Comm_free;
inline constexpr auto& comm_rank = MPI_Comm_rank;
inline constexpr auto& comm_size = MPI_Comm_size;
inline constexpr auto& get_count = MPI_Get_count;

}  // namespace quern::mpi
