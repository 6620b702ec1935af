// SPDX-License-Identifier: BSL-1.0
// What all tests of the layer mpi share: MPI is initialised by main.cpp, every rank runs the same
// cases in the same order, and a case fails on all ranks if it fails on one.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/scheduler/runtime.hpp>

#include <mpi.h>

namespace quern_test {

/// Of MPI_COMM_WORLD.
struct world {
    int rank = 0;
    int size = 1;
};

/// Set by main().
const world& this_world() noexcept;

/// A duplicate of a communicator, freed at the end of its scope: outside of tasks, when no runtime
/// lives or none of its calls is outstanding.
class own_comm {
public:
    explicit own_comm(MPI_Comm of = MPI_COMM_WORLD) { MPI_Comm_dup(of, &m_comm); }
    own_comm(const own_comm&) = delete;
    own_comm& operator=(const own_comm&) = delete;
    ~own_comm() { MPI_Comm_free(&m_comm); }
    operator MPI_Comm() const noexcept { return m_comm; }

private:
    MPI_Comm m_comm = MPI_COMM_NULL;
};

}  // namespace quern_test
