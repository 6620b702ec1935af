// SPDX-License-Identifier: BSL-1.0
// Calls of MPI in Fortran. The Fortran libraries of MPI (mpif.h, `use mpi`, `use mpi_f08`)
// translate arguments and call the C function by its PMPI_ name, Open MPI always and MPICH for
// some: those calls would pass by this layer. So the addresses by which these libraries call are
// changed.
#pragma once

namespace quern::mpi::detail {

/// Makes the Fortran libraries that are loaded call this layer. Called while static objects are
/// made and before MPI is initialised: one may be loaded in between. Returns whether all do.
bool take_fortran_calls() noexcept;

/// The same before a runtime starts. It says once if one does not.
void expect_fortran_calls() noexcept;

}  // namespace quern::mpi::detail
