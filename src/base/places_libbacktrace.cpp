// SPDX-License-Identifier: BSL-1.0
// What lies at an address, by gcc's libbacktrace: it reads the debug information of the program and
// its shared libraries, with memory of its own from mmap, so a signal handler may ask.
#include "code_places.hpp"

#include <backtrace.h>

namespace quern::detail {

namespace {

void ignore_error(void*, const char*, int) {}

/// Made at the first question; reads nothing yet. Never freed: there is no way to.
backtrace_state* reader() noexcept {
    constexpr int k_threaded = 1;
    static backtrace_state* const state =
        backtrace_create_state(nullptr, k_threaded, ignore_error, nullptr);
    return state;
}

struct visit_request {
    place_visitor visit;
    void* data;
    bool found = false;
    bool wants_more = true;
};

int visit_line(void* data, std::uintptr_t, const char* file, int line, const char* function) {
    auto& asked = *static_cast<visit_request*>(data);
    if (file == nullptr && function == nullptr) {
        return 0;  // no debug information
    }
    asked.found = true;
    asked.wants_more = asked.visit(asked.data, {function, file, line});
    return asked.wants_more ? 0 : 1;
}

void visit_symbol(void* data, std::uintptr_t, const char* name, std::uintptr_t, std::uintptr_t) {
    auto& asked = *static_cast<visit_request*>(data);
    if (name != nullptr) {
        asked.found = true;
        asked.visit(asked.data, {name, nullptr, 0});
    }
}

}  // namespace

bool visit_known_places(const void* address, place_visitor visit, void* data) noexcept {
    backtrace_state* const state = reader();
    if (state == nullptr) {
        return false;
    }
    const auto pc = reinterpret_cast<std::uintptr_t>(address);
    visit_request asked{visit, data};
    backtrace_pcinfo(state, pc, visit_line, ignore_error, &asked);
    if (!asked.found) {
        backtrace_syminfo(state, pc, visit_symbol, ignore_error, &asked);
    }
    return asked.found;
}

}  // namespace quern::detail
