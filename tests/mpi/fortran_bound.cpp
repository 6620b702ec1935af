// SPDX-License-Identifier: BSL-1.0
// Calls MPI as its Fortran libraries do. Linked so that all addresses are known when it has been
// loaded, and are constant from then on.
#include <mpi.h>

extern "C" int fortran_bound_receive(int* got, int from, MPI_Comm comm);

extern "C" int fortran_bound_receive(int* got, int from, MPI_Comm comm) {
    return PMPI_Recv(got, 1, MPI_INT, from, 0, comm, MPI_STATUS_IGNORE);
}
