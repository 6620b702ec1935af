// SPDX-License-Identifier: BSL-1.0
// The event that a triggered policy (policy.hpp) is called for: a plain copy of what a listener was
// told, since the policy runs later and on another thread. Made by the policy's listener.
#pragma once

#include <quern/trace/events.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace quern::adaptation {

/// What does not belong to the kind of event is 0, null or empty. Times are nanoseconds.
struct policy_event {
    trace::event_kind kind{};
    std::uint64_t time_ns = 0;                   ///< on the clock of trace::event_clock_ns()
    std::uint64_t duration_ns = 0;               ///< of what has ended with the event
    std::uint32_t worker = trace::k_no_worker;   ///< its rank within its pool
    std::uint64_t task = 0;                      ///< as this_task::id() says
    const char* name = nullptr;                  ///< the task's name, which the program keeps alive
    const void* site = nullptr;                  ///< where the task was made
    const trace::custom_event* which = nullptr;  ///< of kind custom
    double value = 0;                            ///< of a sample or custom event
    trace::message_info message{};
    trace::edge_info edge{};
    std::array<char, 48> text{};  ///< of a sample its name, of a mark its author; cut if longer

    std::string_view text_view() const noexcept { return text.data(); }
};

}  // namespace quern::adaptation
