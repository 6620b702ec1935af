// SPDX-License-Identifier: BSL-1.0
// Recognises MPI libraries by the names of their files.
#include "mpi_library.hpp"

#include "elf.hpp"
#include "search_path.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace quern::tool {

namespace {

struct known_library {
    mpi_library library;
    const char* name;
    const char* package;                    ///< of Debian, with the starter
    std::array<const char*, 2> starters;    ///< the first that is there is taken
    std::array<std::string_view, 3> files;  ///< how names of its files begin
};

// MPICH's own builds and those that keep to its binary interface call the library libmpi.so.12;
// Open MPI has had 20 and more since its version 2. So MPICH is asked first.
constexpr known_library k_known[] = {
    {mpi_library::mpich,
     "MPICH",
     "mpich",
     {"mpiexec.mpich", "mpiexec.hydra"},
     {"libmpich", "libmpi.so.12", "libmpifort.so.12"}},
    {mpi_library::open_mpi,
     "Open MPI",
     "openmpi-bin",
     {"mpirun.openmpi", "orterun"},
     {"libmpi.so.", "libmpi_", "libmpi.so"}},
};

const known_library* known_by(std::string_view file) {
    file.remove_prefix(file.rfind('/') + 1);
    for (const known_library& each : k_known) {
        for (const std::string_view beginning : each.files) {
            if (file.starts_with(beginning)) {
                return &each;
            }
        }
    }
    return nullptr;
}

/// An MPI library, the name of its file, and the file that names it.
struct sighting {
    const known_library* library = nullptr;
    std::string file{};
    std::string by{};
};

void look(const elf_libraries& in, const std::string& path, std::vector<sighting>& seen) {
    for (const std::string& name : in.needed) {
        if (const known_library* const library = known_by(name)) {
            seen.push_back({library, name, path});
        }
    }
}

std::vector<sighting> all_of(const std::string& program) {
    const std::optional<elf_libraries> own = read_elf(program);
    if (!own) {
        throw std::runtime_error(fmt::format(
            "'{}' is a script or other text, not an ELF program: -n reads from the program which "
            "MPI library it links, so name the program that the script starts",
            program));
    }
    std::vector<sighting> seen;
    look(*own, program, seen);
    for (const std::string& name : own->needed) {
        const std::string file = known_by(name) != nullptr ? "" : path_of_library(name, *own);
        if (!file.empty()) {
            if (const std::optional<elf_libraries> its = read_elf(file)) {
                look(*its, file, seen);
            }
        }
    }
    return seen;
}

std::string starter_of(const known_library& library, const std::string& program) {
    for (const char* const name : library.starters) {
        if (std::string path = path_of(name); !path.empty()) {
            return path;
        }
    }
    throw std::runtime_error(fmt::format(
        "'{}' uses {}, but there is neither {} nor {} in PATH; on Debian the package {} has them",
        program, library.name, library.starters[0], library.starters[1], library.package));
}

}  // namespace

mpi_choice mpi_library_of(const std::string& program) {
    const std::vector<sighting> seen = all_of(program);
    if (seen.empty()) {
        throw std::runtime_error(fmt::format(
            "'{}' uses no MPI library: neither it nor a library that it names needs "
            "libmpi.so (Open MPI) or libmpich.so (MPICH); start it without -n, or link it with one",
            program));
    }
    const sighting& first = seen.front();
    for (const sighting& each : seen) {
        if (each.library != first.library) {
            throw std::runtime_error(
                fmt::format("'{}' uses two MPI libraries, and a process can have one: {} needs {} "
                            "({}), {} needs {} ({})",
                            program, first.by, first.file, first.library->name, each.by, each.file,
                            each.library->name));
        }
    }
    return {first.library->library, first.library->name, starter_of(*first.library, program)};
}

}  // namespace quern::tool
