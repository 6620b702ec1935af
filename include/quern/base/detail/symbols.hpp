// SPDX-License-Identifier: BSL-1.0
// Symbolises code addresses: function, file and line of an address, and the user code that called
// into Quern. For crash and hang reports only: slow, never on a fast path. Files and lines need
// debug information (-g) and gcc's libbacktrace; without them only the linker's function names are
// available.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/base/detail/fixed_text.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace quern::detail {

/// A function at an address. The texts are part of the debug information and never freed.
struct code_place {
    const char* function = nullptr;  ///< mangled; null: unknown
    const char* file = nullptr;      ///< null: no debug information
    int line = 0;
    bool is_inlined = false;  ///< into the place visited next
};

/// Calls visit(data, place) for the functions at an address until it returns false: the innermost
/// first, then those into which it was inlined. Never allocates from the heap.
using place_visitor = bool (*)(void* data, const code_place& place);
void visit_places(const void* address, place_visitor visit, void* data) noexcept;

template <class Visit>
void visit_places(const void* address, Visit visit) noexcept {
    detail::visit_places(
        address,
        [](void* data, const code_place& place) { return (*static_cast<Visit*>(data))(place); },
        &visit);
}

/// Whether names are demangled, which allocates from the heap.
enum class spelling_of_names : bool { demangled, as_linked };

/// Adds "function at file:line", or the known part of it.
void add_place(fixed_text& text, const code_place& place,
               spelling_of_names how = spelling_of_names::demangled) noexcept;

/// As add_place(), for the address of a call into Quern taken by code_address(): adds the innermost
/// function there that belongs neither to Quern nor to the standard library.
void add_site(fixed_text& text, const void* address,
              spelling_of_names how = spelling_of_names::demangled) noexcept;
std::string describe_site(const void* address);

/// "libheat.so+0x1f40": where an address lies in the file that was loaded there. The same in every
/// run, until that file is built anew. The address where no file is known.
std::string describe_offset(const void* address);

/// The youngest calls that led to the present one, to be named later: 0.1 to 0.3 us a call.
struct call_chain {
    static constexpr std::size_t k_most = 24;
    std::array<const void*, k_most> calls{};  ///< youngest first; null behind the last

    /// Omits the innermost `skipped` ones. Never allocates.
    QUERN_COLD static call_chain here(std::size_t skipped = 0) noexcept;
    bool operator==(const call_chain&) const noexcept = default;
};

/// The first call outside of Quern and the standard library, formatted as by describe_site(); empty
/// if there is none.
std::string describe_caller(const call_chain& of);

/// The functions at a call's address that belong neither to Quern nor to the C and C++ libraries:
/// innermost first, with those into which it was inlined. Empty if no name is known.
std::vector<std::string> describe_call(const void* address);

/// Why none of the addresses that were asked for has a line of the program's source: a hint for the
/// end of a report. Empty if one has, or none was asked for. Safe in a signal handler.
std::string_view why_no_lines() noexcept;

/// Names the user code of a runtime function, given the function's address: its first template
/// argument, for instance "solve(int)::{lambda()#1}". Else its name, or the address.
void add_entry(fixed_text& text, const void* function,
               spelling_of_names how = spelling_of_names::demangled) noexcept;
std::string describe_entry(const void* function);

/// Initialises what must not be initialised in a signal handler. Does not read debug information
/// yet.
void prepare_symbols() noexcept;

/// The calls of the present stack: the youngest and the oldest, since there may be a million.
class call_stack {
public:
    static constexpr std::size_t k_youngest = 20;
    static constexpr std::size_t k_oldest = 10;

    /// The caller's calls, or those from the one that contains the instruction `from` (in a signal
    /// handler: the interrupted one); empty if that is not found. Never allocates.
    static call_stack here(const void* from = nullptr) noexcept;

    std::size_t size() const noexcept { return m_size; }

    /// Whether a function of the heap is among the youngest calls.
    bool is_in_heap() const noexcept;

    /// Writes a line per call, and one for the omitted calls.
    void write(int file_descriptor, spelling_of_names how) const noexcept;

private:
    void note(const void* address) noexcept;
    void write_call(int file_descriptor, std::size_t depth, spelling_of_names how) const noexcept;
    const void* at(std::size_t depth) const noexcept {
        return depth < k_youngest ? m_youngest[depth] : m_oldest[depth % k_oldest];
    }

    const void* m_youngest[k_youngest] = {};
    const void* m_oldest[k_oldest] = {};  ///< a ring
    std::size_t m_size = 0;
};

/// Writes the whole text. Safe in a signal handler.
void write_text(int file_descriptor, const fixed_text& text) noexcept;

}  // namespace quern::detail
