// SPDX-License-Identifier: BSL-1.0
// A Fortran library of MPI, by its name, that calls MPI in no way that is known.
extern "C" int fortran_empty();

extern "C" int fortran_empty() { return 1; }
