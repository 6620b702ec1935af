// SPDX-License-Identifier: BSL-1.0
// Symbolises addresses with gcc's libbacktrace. It reads the debug information of the program and
// its shared libraries and allocates with mmap, so it is safe in a signal handler.
#include "code_places.hpp"

#include <backtrace.h>
#include <unistd.h>

namespace quern::detail {

namespace {

void ignore_error(void*, const char*, int) {}

/// Created on first use; reads nothing yet. Never freed: libbacktrace has no function for that.
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
};

int visit_line(void* data, std::uintptr_t, const char* file, int line, const char* function) {
    auto& asked = *static_cast<visit_request*>(data);
    if (file == nullptr && function == nullptr) {
        return 0;  // no debug information
    }
    asked.found = true;
    return asked.visit(asked.data, {function, file, line}) ? 0 : 1;
}

}  // namespace

bool visit_lines(const void* address, place_visitor visit, void* data) noexcept {
    visit_request asked{visit, data};
    if (backtrace_state* const state = reader()) {
        backtrace_pcinfo(state, reinterpret_cast<std::uintptr_t>(address), visit_line, ignore_error,
                         &asked);
    }
    return asked.found;
}

const char* linked_name(const void* address) noexcept {
    const char* name = nullptr;
    const auto note = [](void* data, std::uintptr_t, const char* found, std::uintptr_t,
                         std::uintptr_t) { *static_cast<const char**>(data) = found; };
    if (backtrace_state* const state = reader()) {
        backtrace_syminfo(state, reinterpret_cast<std::uintptr_t>(address), note, ignore_error,
                          &name);
    }
    return name;
}

std::string_view reason_without_lines() noexcept {
    return ::access("/proc/self/exe", R_OK) != 0
               ? "without /proc the debug information of the program is not found"
               : "the program has no debug information: compile it with -g";
}

void open_places() noexcept { static_cast<void>(reader()); }

}  // namespace quern::detail
