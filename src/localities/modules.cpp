// SPDX-License-Identifier: BSL-1.0
// Lists the loaded modules, and agrees with the other localities on their numbers.
#include "modules.hpp"

#include <elf.h>
#include <link.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <stdexcept>

namespace quern::localities::detail {

namespace {

constexpr int k_module_shift = 48;
constexpr std::uint64_t k_offsets = (std::uint64_t{1} << k_module_shift) - 1;

/// FNV-1a.
std::uint64_t hash_of(std::span<const unsigned char> bytes) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const unsigned char each : bytes) {
        hash = (hash ^ each) * 0x100000001b3U;
    }
    return hash;
}

/// The contents of the note in which the linker has left the build id; empty: there is none.
std::span<const unsigned char> build_id_in(const unsigned char* notes, std::size_t size) noexcept {
    constexpr std::size_t k_step = 4;
    const auto padded = [](std::size_t bytes) { return (bytes + k_step - 1) / k_step * k_step; };
    std::size_t at = 0;
    while (at + sizeof(ElfW(Nhdr)) <= size) {
        ElfW(Nhdr) header{};
        std::memcpy(&header, notes + at, sizeof header);
        const std::size_t name = at + sizeof header;
        const std::size_t contents = name + padded(header.n_namesz);
        at = contents + padded(header.n_descsz);
        if (at > size) {
            break;
        }
        if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == sizeof ELF_NOTE_GNU &&
            std::memcmp(notes + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
            return {notes + contents, header.n_descsz};
        }
    }
    return {};
}

std::string in_hex(std::uint64_t id) {
    constexpr std::array<char, 17> k_digits{"0123456789abcdef"};
    std::string words;
    for (int shift = 60; shift >= 0; shift -= 4) {
        words += k_digits[(id >> shift) & 0xf];
    }
    return words;
}

/// One value of each rank.
std::vector<std::uint64_t> gather(std::uint64_t own) {
    int ranks = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::vector<std::uint64_t> all(static_cast<std::size_t>(ranks));
    MPI_Allgather(&own, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    return all;
}

/// All values of all ranks, each once, sorted.
std::vector<std::uint64_t> gather_all(const std::vector<std::uint64_t>& own) {
    std::vector<int> counts;
    std::vector<int> places;
    int total = 0;
    for (const std::uint64_t each : gather(own.size())) {
        counts.push_back(static_cast<int>(each));
        places.push_back(total);
        total += counts.back();
    }
    std::vector<std::uint64_t> all(static_cast<std::size_t>(total));
    MPI_Allgatherv(own.data(), static_cast<int>(own.size()), MPI_UINT64_T, all.data(),
                   counts.data(), places.data(), MPI_UINT64_T, MPI_COMM_WORLD);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

}  // namespace

std::vector<module_table::module> module_table::loaded_here() {
    std::vector<module> found;
    const auto add = [](dl_phdr_info* info, std::size_t, void* to) {
        module one{.base = info->dlpi_addr, .name = info->dlpi_name};
        std::span<const unsigned char> id;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
            const ElfW(Phdr)& part = info->dlpi_phdr[i];
            const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
            const auto* const bytes = reinterpret_cast<const unsigned char*>(begin);
            if (part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0 && one.begin == 0) {
                one.begin = begin;
                one.end = begin + part.p_memsz;
            } else if (part.p_type == PT_NOTE && id.empty()) {
                id = build_id_in(bytes, part.p_memsz);
            }
        }
        if (one.begin != 0) {
            if (id.empty()) {  // its code serves, which the loader does not change
                id = {reinterpret_cast<const unsigned char*>(one.begin), one.end - one.begin};
            }
            one.id = hash_of(id);
            static_cast<std::vector<module>*>(to)->push_back(std::move(one));
        }
        return 0;
    };
    ::dl_iterate_phdr(add, &found);
    if (!found.empty()) {
        found.front().name = "the program";
    }
    return found;
}

void module_table::agree_on_program() const {
    const std::vector<std::uint64_t> ids = gather(m_modules.front().id);
    const auto other = std::find_if(ids.begin(), ids.end(),
                                    [&](std::uint64_t each) { return each != ids.front(); });
    if (other != ids.end()) {
        throw std::runtime_error("quern: locality " + std::to_string(other - ids.begin()) +
                                 " runs another program than locality 0 (build ids " +
                                 in_hex(*other) + " and " + in_hex(ids.front()) +
                                 "); accepted: one program, built once");
    }
}

void module_table::number_all(std::vector<module> loaded) {
    std::vector<std::uint64_t> ids;
    for (std::size_t i = 1; i < loaded.size(); ++i) {
        ids.push_back(loaded[i].id);
    }
    for (const std::uint64_t each : gather_all(ids)) {
        const auto here = std::find_if(loaded.begin() + 1, loaded.end(),
                                       [&](const module& one) { return one.id == each; });
        m_modules.push_back(here != loaded.end() ? *here : module{.id = each});
    }
}

module_table::module_table() {
    std::vector<module> loaded = loaded_here();
    m_modules.push_back(loaded.front());
    agree_on_program();
    number_all(std::move(loaded));
}

code_place module_table::place_of(const void* address) const {
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    std::uint64_t number = 1;
    for (const module& one : m_modules) {
        if (place - one.begin < one.end - one.begin) {
            return (number << k_module_shift) + (place - one.base);
        }
        ++number;
    }
    throw std::logic_error(
        "quern: localities: a function of a library that was loaded after the session had begun; "
        "accepted: functions of the program, and of libraries that were loaded before");
}

const void* module_table::address_of(code_place place) const {
    const std::uint64_t number = place >> k_module_shift;
    if (number == 1) [[likely]] {  // the program itself
        const module& one = m_modules.front();
        const std::uintptr_t address = one.base + (place & k_offsets);
        if (address - one.begin < one.end - one.begin) [[likely]] {
            return reinterpret_cast<const void*>(address);
        }
    }
    if (number == 0 || number > m_modules.size()) {
        throw std::runtime_error("quern: localities: a parcel names module " +
                                 std::to_string(number) + "; known: 1 to " +
                                 std::to_string(m_modules.size()));
    }
    const module& one = m_modules[number - 1];
    const std::uintptr_t address = one.base + (place & k_offsets);
    if (address - one.begin >= one.end - one.begin) {
        throw std::runtime_error(
            one.end == 0
                ? "quern: localities: a call of a function in a library that is not "
                  "loaded here (build id " +
                      in_hex(one.id) + ")"
                : "quern: localities: a parcel names a place that is no code of " + one.name);
    }
    return reinterpret_cast<const void*>(address);
}

}  // namespace quern::localities::detail
