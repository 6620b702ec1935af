// SPDX-License-Identifier: BSL-1.0
// The dynamic section of an ELF file: which libraries it names, and where it wants them looked for.
// `quern run -n` asks it which MPI library a program links. Must survive any file.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace quern::tool {

struct elf_libraries {
    std::vector<std::string> needed{};   ///< DT_NEEDED, in the file's order
    std::vector<std::string> folders{};  ///< DT_RUNPATH, else DT_RPATH; $ORIGIN is replaced
};

/// Nothing: not an ELF file. No libraries: it is linked statically. Throws std::runtime_error for a
/// file that cannot be read, is damaged, or is for another kind of machine than this program.
std::optional<elf_libraries> read_elf(const std::string& path);

/// The file that the dynamic linker would load for a needed library of `by`: folders of `by`,
/// LD_LIBRARY_PATH, the folders of /etc/ld.so.conf, the system's own. Empty: there is none.
std::string path_of_library(const std::string& name, const elf_libraries& by);

}  // namespace quern::tool
