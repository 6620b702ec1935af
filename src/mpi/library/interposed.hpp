// SPDX-License-Identifier: BSL-1.0
// Tools that measure MPI by defining its functions (mpiP, Score-P). They come behind this layer: it
// calls next::X for MPI_X, which is the definition that the dynamic linker finds after this one if
// a tool has it, else PMPI_X. What this layer needs for itself, such as numbers of communicators,
// it calls by PMPI_X: no tool should see that.
#pragma once

#include <next_calls.hpp>  // generated for each MPI library: next::X

#include <span>

namespace quern::mpi::detail {

/// One of MPI's functions that this layer defines.
struct layer_function {
    const char* name;  ///< "MPI_X"
    void* next;        ///< the address of next::X
    void* own;         ///< this layer's function
};

/// All of them, by name. Generated.
std::span<const layer_function> layer_functions() noexcept;

/// Looks for definitions of tools. Called once, while static objects are made: before, and where
/// there is none, next::X is PMPI_X. Returns whether there is one.
bool find_next_calls() noexcept;

}  // namespace quern::mpi::detail
