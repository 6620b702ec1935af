// SPDX-License-Identifier: BSL-1.0
// The MPI libraries that `quern run -n` knows: how a program shows that it links one, and the
// command that starts ranks under it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quern::tool {

enum class mpi_library { open_mpi, mpich };

struct mpi_choice {
    mpi_library library;
    std::string name;     ///< "Open MPI"
    std::string starter;  ///< the path of its mpirun
};

/// The MPI library of a program: one that its ELF file names as needed, or that one of the
/// libraries does that it names, or one of LD_PRELOAD: the layer for programs that load MPI when
/// they run. `words`: the command line, which may begin with "env LD_PRELOAD=...". Throws
/// std::runtime_error if there is none or more than one, for a file that is no ELF file, and if the
/// library's starter is not installed.
mpi_choice mpi_library_of(const std::string& program, const std::vector<std::string>& words);

/// The names that --mpi accepts.
std::vector<std::string_view> mpi_words();

/// The library of that name, which the program loads when it runs. Throws std::runtime_error if its
/// starter is not installed. Requires: one of mpi_words().
mpi_choice mpi_library_named(const std::string& word, const std::string& program);

}  // namespace quern::tool
