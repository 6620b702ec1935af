// SPDX-License-Identifier: BSL-1.0
// The calls of a stack, by the unwinder of the C++ runtime: kept as addresses, or written as lines.
// Must work in a signal handler.
#include <quern/base/detail/symbols.hpp>

#include "code_places.hpp"
#include "whose_code.hpp"

#include <unistd.h>
#include <unwind.h>
#include <algorithm>
#include <iterator>
#include <string_view>

namespace quern::detail {

namespace {

/// An address within the call instruction; the next instruction may belong to another line.
const void* call_address(_Unwind_Context* frame) noexcept {
    int is_before_instruction = 0;
    const auto next = _Unwind_GetIPInfo(frame, &is_before_instruction);
    return reinterpret_cast<const void*>(is_before_instruction != 0 || next == 0 ? next : next - 1);
}

}  // namespace

call_chain call_chain::here(std::size_t skipped) noexcept {
    struct walk {
        call_chain found{};
        std::size_t to_skip;
        std::size_t count = 0;
    } w{.to_skip = skipped + 1};  // this function
    const auto visit = [](_Unwind_Context* frame, void* data) {
        auto& asked = *static_cast<walk*>(data);
        const void* const address = call_address(frame);
        if (address == nullptr || asked.count == k_most) {
            return _URC_END_OF_STACK;
        }
        if (asked.to_skip != 0) {
            --asked.to_skip;
        } else {
            asked.found.calls[asked.count++] = address;
        }
        return _URC_NO_REASON;
    };
    _Unwind_Backtrace(visit, &w);
    return w.found;
}

call_stack call_stack::here(const void* from) noexcept {
    struct walk {
        call_stack calls{};
        const void* from;
        bool noting;
    } w{.from = from, .noting = from == nullptr};
    const auto visit = [](_Unwind_Context* frame, void* data) {
        auto& asked = *static_cast<walk*>(data);
        const void* const address = call_address(frame);
        if (address == nullptr) {
            return _URC_END_OF_STACK;
        }
        asked.noting = asked.noting || address == asked.from;
        if (asked.noting) {
            asked.calls.note(address);
        }
        return _URC_NO_REASON;
    };
    _Unwind_Backtrace(visit, &w);
    return w.calls;
}

void call_stack::note(const void* address) noexcept {
    if (m_size < k_youngest) {
        m_youngest[m_size] = address;
    }
    m_oldest[m_size % k_oldest] = address;
    ++m_size;
}

bool call_stack::is_in_heap() const noexcept {
    constexpr std::string_view k_heap[] = {"malloc", "calloc",         "realloc",      "free",
                                           "cfree",  "posix_memalign", "aligned_alloc"};
    bool found = false;
    for (std::size_t i = 0; i < std::min(m_size, k_youngest) && !found; ++i) {
        visit_places(m_youngest[i], [&](const code_place& place) {
            const std::string_view name = place.function != nullptr ? place.function : "";
            found = std::find(std::begin(k_heap), std::end(k_heap), name) != std::end(k_heap);
            return !found;
        });
    }
    return found;
}

void call_stack::write_call(int file_descriptor, std::size_t depth,
                            spelling_of_names how) const noexcept {
    fixed_text line;
    const auto begin_line = [&] { line.add("  #").add(std::uint64_t{depth}).add("  "); };
    bool found = false;
    visit_places(at(depth), [&](const code_place& place) {
        const bool says_little = found || (place.is_inlined && depth != 0);
        if (says_little && is_library(place)) {
            return true;  // an inlined part of the runtime
        }
        line.clear();
        begin_line();
        add_place(line, place, how);
        write_text(file_descriptor, line.add("\n"));
        found = true;
        return true;
    });
    if (!found) {
        begin_line();
        add_linked(line, at(depth), how);
        write_text(file_descriptor, line.add("\n"));
    }
}

void call_stack::write(int file_descriptor, spelling_of_names how) const noexcept {
    const std::size_t kept = k_youngest + k_oldest;
    for (std::size_t i = 0; i < m_size; ++i) {
        if (i == k_youngest && m_size > kept) {
            fixed_text line;
            line.add("  ... ").add(std::uint64_t{m_size - kept}).add(" more calls ...\n");
            write_text(file_descriptor, line);
            i = m_size - k_oldest;
        }
        write_call(file_descriptor, i, how);
    }
}

void write_text(int file_descriptor, const fixed_text& text) noexcept {
    std::string_view rest = text.view();
    while (!rest.empty()) {
        const auto written = ::write(file_descriptor, rest.data(), rest.size());
        if (written <= 0) {
            return;
        }
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace quern::detail
