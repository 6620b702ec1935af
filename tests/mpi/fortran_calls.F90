! SPDX-License-Identifier: BSL-1.0
! Calls of MPI in Fortran, compiled once for each of its bindings: QUERN_TEST_MPIF (mpif.h),
! QUERN_TEST_MPI (use mpi) and QUERN_TEST_F08 (use mpi_f08). QUERN_TEST_BINDING ends the names.
#if defined(QUERN_TEST_MPIF)
#define QUERN_TEST_USE use iso_c_binding
#define QUERN_TEST_INCLUDE include 'mpif.h'
#elif defined(QUERN_TEST_MPI)
#define QUERN_TEST_USE use mpi
#define QUERN_TEST_INCLUDE
#else
#define QUERN_TEST_USE use mpi_f08
#define QUERN_TEST_INCLUDE
#endif
#if defined(QUERN_TEST_F08)
#define QUERN_TEST_STATUS type(MPI_Status)
#define QUERN_TEST_REQUEST type(MPI_Request)
#define QUERN_TEST_SIZE 1
#else
#define QUERN_TEST_STATUS integer
#define QUERN_TEST_REQUEST integer
#define QUERN_TEST_SIZE MPI_STATUS_SIZE
#endif

subroutine quern_test_initialise() bind(c, name='initialise_'//QUERN_TEST_BINDING)
  QUERN_TEST_USE
  QUERN_TEST_INCLUDE
  integer :: error
  call MPI_Init(error)
end subroutine

subroutine quern_test_finalise() bind(c, name='finalise_'//QUERN_TEST_BINDING)
  QUERN_TEST_USE
  QUERN_TEST_INCLUDE
  integer :: error
  call MPI_Finalize(error)
end subroutine

subroutine quern_test_receive(got, from, tag) bind(c, name='receive_'//QUERN_TEST_BINDING)
  QUERN_TEST_USE
  QUERN_TEST_INCLUDE
  integer :: got
  integer, value :: from, tag
  QUERN_TEST_STATUS :: status(QUERN_TEST_SIZE)
  integer :: error
#if defined(QUERN_TEST_F08)
  call MPI_Recv(got, 1, MPI_INTEGER, from, tag, MPI_COMM_WORLD, status(1), error)
#else
  call MPI_Recv(got, 1, MPI_INTEGER, from, tag, MPI_COMM_WORLD, status, error)
#endif
end subroutine

subroutine quern_test_send(sent, to, tag) bind(c, name='send_'//QUERN_TEST_BINDING)
  QUERN_TEST_USE
  QUERN_TEST_INCLUDE
  integer :: sent
  integer, value :: to, tag
  integer :: error
  call MPI_Send(sent, 1, MPI_INTEGER, to, tag, MPI_COMM_WORLD, error)
end subroutine

subroutine quern_test_wait(got, from, tag) bind(c, name='wait_'//QUERN_TEST_BINDING)
  QUERN_TEST_USE
  QUERN_TEST_INCLUDE
  integer :: got
  integer, value :: from, tag
  QUERN_TEST_REQUEST :: requests(1)
  integer :: error
  call MPI_Irecv(got, 1, MPI_INTEGER, from, tag, MPI_COMM_WORLD, requests(1), error)
  call MPI_Waitall(1, requests, MPI_STATUSES_IGNORE, error)
end subroutine

subroutine quern_test_probe(got, from, tag) bind(c, name='probe_'//QUERN_TEST_BINDING)
  QUERN_TEST_USE
  QUERN_TEST_INCLUDE
  integer :: got
  integer, value :: from, tag
  integer :: error
  call MPI_Probe(from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Recv(got, 1, MPI_INTEGER, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
end subroutine

subroutine quern_test_sum(value) bind(c, name='sum_'//QUERN_TEST_BINDING)
  QUERN_TEST_USE
  QUERN_TEST_INCLUDE
  integer :: value
  integer :: error
  call MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
end subroutine

subroutine quern_test_meet() bind(c, name='meet_'//QUERN_TEST_BINDING)
  QUERN_TEST_USE
  QUERN_TEST_INCLUDE
  integer :: error
  call MPI_Barrier(MPI_COMM_WORLD, error)
end subroutine
