// SPDX-License-Identifier: BSL-1.0
// Recognises MPI libraries by the names of their files.
#include "job/mpi_library.hpp"

#include "program/elf.hpp"
#include "program/search_path.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
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
    const char* word;                       ///< of --mpi
};

// MPICH's own builds and those that keep to its binary interface call the library libmpi.so.12;
// Open MPI has had 20 and more since its version 2. So MPICH is asked first.
constexpr known_library k_known[] = {
    {mpi_library::mpich,
     "MPICH",
     "mpich",
     {"mpiexec.mpich", "mpiexec.hydra"},
     {"libmpich", "libmpi.so.12", "libmpifort.so.12"},
     "mpich"},
    {mpi_library::open_mpi,
     "Open MPI",
     "openmpi-bin",
     {"mpirun.openmpi", "orterun"},
     {"libmpi.so.", "libmpi_", "libmpi.so"},
     "openmpi"},
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

/// The value of LD_PRELOAD for the ranks: that of `env`, if the command begins with it, or this
/// process's.
std::string preloaded_by(const std::vector<std::string>& words) {
    constexpr std::string_view k_name = "LD_PRELOAD=";
    if (!words.empty() && words[0].substr(words[0].rfind('/') + 1) == "env") {
        for (std::size_t i = 1; i < words.size() && words[i].find('=') != std::string::npos; ++i) {
            if (words[i].starts_with(k_name)) {
                return words[i].substr(k_name.size());
            }
        }
    }
    const char* const own = std::getenv("LD_PRELOAD");
    return own != nullptr ? own : "";
}

/// A preloaded library that is not there is left out: so does the dynamic linker, with words.
void look_at_preloaded(const std::string& list, std::vector<sighting>& seen) {
    constexpr const char* k_separators = " :";
    for (std::size_t at = 0; at < list.size();) {
        const std::size_t end = std::min(list.find_first_of(k_separators, at), list.size());
        const std::string name = list.substr(at, end - at);
        at = end + 1;
        if (const known_library* const library = known_by(name); library != nullptr) {
            seen.push_back({library, name.substr(name.rfind('/') + 1), "LD_PRELOAD"});
            continue;
        }
        const std::string file = name.empty() ? "" : path_of_library(name, {});
        if (!file.empty() && ::access(file.c_str(), R_OK) == 0) {
            if (const std::optional<elf_libraries> its = read_elf(file)) {
                look(*its, file, seen);
            }
        }
    }
}

std::vector<sighting> all_sightings(const std::string& program) {
    const std::optional<elf_libraries> own = read_elf(program);
    if (!own) {
        throw std::runtime_error(fmt::format(
            "'{}' is a script or other text, not an ELF program: -n reads from the program which "
            "MPI library it links, so name the program that the script starts, or the library: "
            "--mpi openmpi or --mpi mpich",
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

std::vector<std::string_view> mpi_words() {
    std::vector<std::string_view> words;
    for (const known_library& each : k_known) {
        words.emplace_back(each.word);
    }
    return words;
}

mpi_choice mpi_library_named(const std::string& word, const std::string& program) {
    for (const known_library& each : k_known) {
        if (each.word == word) {
            return {each.library, each.name, starter_of(each, program)};
        }
    }
    throw std::logic_error("no MPI library of that name: " + word);
}

mpi_choice mpi_library_of(const std::string& program, const std::vector<std::string>& words) {
    std::vector<sighting> seen = all_sightings(program);
    look_at_preloaded(preloaded_by(words), seen);
    if (seen.empty()) {
        throw std::runtime_error(fmt::format(
            "'{}' uses no MPI library: neither it nor a library that it or LD_PRELOAD names needs "
            "libmpi.so (Open MPI) or libmpich.so (MPICH); start it without -n, link it with one, "
            "or name the one that it loads when it runs: --mpi openmpi or --mpi mpich",
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
