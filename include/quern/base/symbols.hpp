// SPDX-License-Identifier: BSL-1.0
// From code addresses to names: which function, file and line lie at an address, and from where a
// part of Quern was called. For reports of crashes and hangs alone: slow, and never on a fast path.
// Files and lines need debug information (-g) and gcc's libbacktrace; without them there are the
// names of functions that the linker keeps.
#pragma once

#include <quern/base/config.hpp>
#include <quern/base/fixed_text.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace quern::detail {

/// A function at an address. The texts are parts of the debug information and live for ever.
struct code_place {
    const char* function = nullptr;  ///< as the linker spells it; null: unknown
    const char* file = nullptr;      ///< null: there is no debug information
    int line = 0;
    bool is_inlined = false;  ///< into the place that is visited next
};

/// Calls visit(data, place) for what lies at an address until it returns false: the innermost
/// function first, then those into which it was inlined. Never allocates from the heap.
using place_visitor = bool (*)(void* data, const code_place& place);
void visit_places(const void* address, place_visitor visit, void* data) noexcept;

template <class Visit>
void visit_places(const void* address, Visit visit) noexcept {
    detail::visit_places(
        address,
        [](void* data, const code_place& place) { return (*static_cast<Visit*>(data))(place); },
        &visit);
}

/// Whether names are demangled, which takes memory from the heap.
enum class spelling_of_names : bool { demangled, as_linked };

/// Adds "function at file:line" or what is known of it.
void add_place(fixed_text& text, const code_place& place,
               spelling_of_names how = spelling_of_names::demangled) noexcept;

/// The same for a place from which Quern was called, as code_address() has noted it: the innermost
/// function there that belongs neither to Quern nor to the standard library.
void add_site(fixed_text& text, const void* address,
              spelling_of_names how = spelling_of_names::demangled) noexcept;
std::string describe_site(const void* address);

/// The youngest calls that led to the present one, to be named later: 0.1 to 0.3 us a call.
struct call_chain {
    static constexpr std::size_t k_most = 24;
    std::array<const void*, k_most> calls{};  ///< the youngest first; null behind the last

    /// Without the innermost `skipped` ones. Never allocates.
    QUERN_COLD static call_chain here(std::size_t skipped = 0) noexcept;
    bool operator==(const call_chain&) const noexcept = default;
};

/// The first of the calls that lies in neither Quern nor the standard library, as describe_site()
/// says it; empty when there is none.
std::string describe_caller(const call_chain& of);

/// The functions at an address within a call that belong neither to Quern nor to the libraries of
/// C and C++, the innermost first, with those into which it was inlined. None where no name is
/// known.
std::vector<std::string> describe_call(const void* address);

/// What a function of the runtime was made for, by the function's address: the first argument of
/// its template, for instance "solve(int)::{lambda()#1}". Else its name, or the address.
void add_entry(fixed_text& text, const void* function,
               spelling_of_names how = spelling_of_names::demangled) noexcept;
std::string describe_entry(const void* function);

/// Makes what must not be made in a signal handler. Reads no debug information yet.
void prepare_symbols() noexcept;

/// The calls that led to the present one: the youngest and the oldest, for there may be a million.
class call_stack {
public:
    static constexpr std::size_t k_youngest = 20;
    static constexpr std::size_t k_oldest = 10;

    /// The caller's calls, or those from the one on in which the instruction `from` lies (in a
    /// signal handler: the one that was interrupted); none when that is not found. Never allocates.
    static call_stack here(const void* from = nullptr) noexcept;

    std::size_t size() const noexcept { return m_size; }

    /// Whether a function of the heap is among the youngest calls.
    bool is_in_heap() const noexcept;

    /// Writes a line per call, and one for those that are left out.
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

/// Writes all of the text. Safe in a signal handler.
void write_text(int file_descriptor, const fixed_text& text) noexcept;

}  // namespace quern::detail
