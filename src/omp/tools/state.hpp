// SPDX-License-Identifier: BSL-1.0
// The state of the tools interface: the tool, and what it has of the calling thread.
#pragma once

#include "tools/tools.hpp"

#include <array>

namespace quern::omp::tools {

struct tool {
    start_result* started = nullptr;
    std::array<std::atomic<any_function>, k_last_event + 1> callbacks{};
};

/// The only one there is; g_tool leads to it while it is used.
tool& the_tool() noexcept;
/// Ends with the tool, if there is one that has not ended.
void finalize_now() noexcept;

struct thread_record {
    tool_data data{};
    task_record* current = nullptr;
    task_record first;  ///< the initial task of a thread of the program
    region first_region;
    std::uint64_t waits_for = 0;
    state now = state::serial;
    bool has_begun = false;
};
extern constinit thread_local thread_record tls_thread;

/// Calls what the tool has set for the event, if there is a tool and it has.
template <class Event, class... Arguments>
void tell(Arguments... arguments) noexcept {
    tool* const told = g_tool.load(std::memory_order_acquire);
    if (told == nullptr) {
        return;
    }
    const any_function called = told->callbacks[Event::number].load(std::memory_order_acquire);
    if (called != nullptr) {
        reinterpret_cast<typename Event::function>(called)(arguments...);
    }
}

inline tool_data* data_of(task_record* of) noexcept { return of != nullptr ? &of->data : nullptr; }
inline tool_data* data_of(region* of) noexcept { return of != nullptr ? &of->data : nullptr; }
inline region* region_of(const thread_record& here) noexcept {
    return here.current != nullptr ? here.current->within : nullptr;
}
inline state working_state(const thread_record& here) noexcept {
    return here.current == nullptr || (here.current->flags & k_initial_task) != 0 ? state::serial
                                                                                  : state::parallel;
}

/// What `lookup(name)` of a tool's initializer returns; null: there is no such function.
any_function look_up(const char* name);

}  // namespace quern::omp::tools
