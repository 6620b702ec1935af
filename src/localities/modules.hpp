// SPDX-License-Identifier: BSL-1.0
// Places in the code of the program that are the same at all localities, wherever each process has
// loaded it: the number of a module, the program itself or a shared library, and an offset in it.
// Modules are known by their build ids, which the linker computes from their contents.
#pragma once

#include <quern/localities/detail/parcel.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace quern::localities::detail {

class module_table {
public:
    /// Of the modules that are loaded now. Collective over MPI_COMM_WORLD. Throws
    /// std::runtime_error, at all localities, if they run different programs.
    module_table();

    code_place place_of(const void* address) const;
    const void* address_of(code_place place) const;

private:
    struct module {
        std::uintptr_t base = 0;   ///< null: it is not loaded here
        std::uintptr_t begin = 0;  ///< of its code
        std::uintptr_t end = 0;
        std::uint64_t id = 0;
        std::string name{};
    };

    static std::vector<module> loaded_here();
    void agree_on_program() const;
    void number_all(std::vector<module> loaded);

    std::vector<module> m_modules;  ///< by number; the program is the first
};

}  // namespace quern::localities::detail
