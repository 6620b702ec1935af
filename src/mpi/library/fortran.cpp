// SPDX-License-Identifier: BSL-1.0
// The table of addresses of a shared library (its relocations by name, in the ABI of ELF) tells by
// which word it calls which function of another library.
#include "library/fortran.hpp"

#include "library/interposed.hpp"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <span>
#include <string_view>

namespace quern::mpi::detail {

namespace {

using header = ElfW(Phdr);
using entry = ElfW(Dyn);
using symbol = ElfW(Sym);
using relocation = ElfW(Rela);

/// Kinds of relocations by which a library calls functions by name; none: not known here.
bool is_call_by_name([[maybe_unused]] std::uint64_t kind) noexcept {
#if defined(__x86_64__)
    return kind == R_X86_64_JUMP_SLOT || kind == R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
    return kind == R_AARCH64_JUMP_SLOT || kind == R_AARCH64_GLOB_DAT;
#else
    return false;
#endif
}

/// A Fortran library of MPI, by the beginning of its name.
struct fortran_library {
    std::string_view name;
    bool has_calls;  ///< else others have most of its calls
};
constexpr fortran_library k_libraries[] = {{"libmpi_mpifh", true},  // Open MPI
                                           {"libmpi_usempif08", false},
                                           {"libmpifort", true},     // MPICH
                                           {"libmpichfort", true}};  // MPICH at Debian

const fortran_library* find_fortran(std::string_view file) noexcept {
    file.remove_prefix(file.rfind('/') + 1);  // npos + 1 is 0
    const auto* const found =
        std::find_if(std::begin(k_libraries), std::end(k_libraries),
                     [file](const fortran_library& each) { return file.starts_with(each.name); });
    return found != std::end(k_libraries) ? found : nullptr;
}

/// This layer's function for "MPI_X" or "PMPI_X", or null.
void* own_function(std::string_view name) noexcept {
    if (name.starts_with("PMPI_")) {
        name.remove_prefix(1);
    }
    const auto all = layer_functions();
    const auto found = std::lower_bound(
        all.begin(), all.end(), name,
        [](const layer_function& each, std::string_view wanted) { return each.name < wanted; });
    return found != all.end() && found->name == name ? found->own : nullptr;
}

/// A loaded library, as its dynamic section describes it.
class library {
public:
    explicit library(const dl_phdr_info& loaded) noexcept : m_base(loaded.dlpi_addr) {
        for (const header& each : std::span(loaded.dlpi_phdr, loaded.dlpi_phnum)) {
            if (each.p_type == PT_DYNAMIC) {
                read(reinterpret_cast<const entry*>(m_base + each.p_vaddr));
            } else if (each.p_type == PT_GNU_RELRO) {
                m_constant = {m_base + each.p_vaddr, each.p_memsz};
            }
        }
    }

    /// How many calls go to this layer afterwards.
    int take_calls() const noexcept {
        return take_calls_of(m_calls, m_calls_size) + take_calls_of(m_others, m_others_size);
    }

private:
    void read(const entry* each) noexcept {
        for (; each->d_tag != DT_NULL; ++each) {
            switch (each->d_tag) {
                case DT_SYMTAB:
                    m_symbols = at<symbol>(each->d_un.d_ptr);
                    break;
                case DT_STRTAB:
                    m_names = at<char>(each->d_un.d_ptr);
                    break;
                case DT_JMPREL:
                    m_calls = at<relocation>(each->d_un.d_ptr);
                    break;
                case DT_PLTRELSZ:
                    m_calls_size = each->d_un.d_val;
                    break;
                case DT_RELA:
                    m_others = at<relocation>(each->d_un.d_ptr);
                    break;
                case DT_RELASZ:
                    m_others_size = each->d_un.d_val;
                    break;
                default:
                    break;
            }
        }
    }

    /// glibc has made these addresses, other C libraries leave them relative.
    template <class T>
    const T* at(std::uintptr_t address) const noexcept {
        return reinterpret_cast<const T*>(address < m_base ? address + m_base : address);
    }

    int take_calls_of(const relocation* first, std::size_t bytes) const noexcept {
        int taken = 0;
        for (const relocation& each : std::span(first, bytes / sizeof *first)) {
            if (is_call_by_name(ELF64_R_TYPE(each.r_info))) {
                const char* const name = m_names + m_symbols[ELF64_R_SYM(each.r_info)].st_name;
                if (void* const own = own_function(name); own != nullptr) {
                    taken += set(reinterpret_cast<void**>(m_base + each.r_offset), own) ? 1 : 0;
                }
            }
        }
        return taken;
    }

    bool set(void** word, void* to) const noexcept {
        const std::atomic_ref<void*> shared(*word);
        if (shared.load(std::memory_order_relaxed) == to) {
            return true;
        }
        const auto size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
        const std::uintptr_t from = reinterpret_cast<std::uintptr_t>(word) / size * size;
        void* const page = reinterpret_cast<void*>(from);
        // Of these pages the dynamic linker has forbidden to write those that are whole.
        const bool is_constant = from >= m_constant.from / size * size &&
                                 from < (m_constant.from + m_constant.bytes) / size * size;
        if (is_constant && ::mprotect(page, size, PROT_READ | PROT_WRITE) != 0) {
            return false;
        }
        shared.store(to, std::memory_order_relaxed);
        if (is_constant) {
            ::mprotect(page, size, PROT_READ);
        }
        return true;
    }

    struct part {
        std::uintptr_t from = 0;
        std::size_t bytes = 0;
    };

    const std::uintptr_t m_base;
    const symbol* m_symbols = nullptr;
    const char* m_names = nullptr;
    const relocation* m_calls = nullptr;
    std::size_t m_calls_size = 0;
    const relocation* m_others = nullptr;
    std::size_t m_others_size = 0;
    part m_constant;
};

int look_at(dl_phdr_info* loaded, std::size_t /*size*/, void* missed) noexcept {
    const fortran_library* const known =
        loaded->dlpi_name != nullptr ? find_fortran(loaded->dlpi_name) : nullptr;
    if (known != nullptr && library(*loaded).take_calls() == 0 && known->has_calls) {
        *static_cast<const char**>(missed) = loaded->dlpi_name;
    }
    return 0;
}

/// The path of a library whose calls pass by, or null.
const char* take_all() noexcept {
    const char* missed = nullptr;
    ::dl_iterate_phdr(look_at, &missed);
    return missed;
}

}  // namespace

bool take_fortran_calls() noexcept { return take_all() == nullptr; }

void expect_fortran_calls() noexcept {
    static constinit std::atomic<bool> has_been_said{false};
    const char* const missed = take_all();
    if (missed != nullptr && !has_been_said.exchange(true, std::memory_order_relaxed)) {
        std::fprintf(
            stderr,
            "quern: calls of MPI in Fortran pass by Quern: how %s calls MPI is not known "
            "here. They block their worker, and no other call of MPI may be made meanwhile "
            "unless MPI gives MPI_THREAD_MULTIPLE\n",
            missed);
    }
}

}  // namespace quern::mpi::detail
