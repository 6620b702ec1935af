// SPDX-License-Identifier: BSL-1.0
// The programs of this user that can be looked into, and how to ask them: what `quern top` and its
// like are made of, and any other program that wants to know.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace quern::counters {

/// Grows when an answer changes its meaning; what is only added keeps it.
inline constexpr int k_live_protocol = 1;

/// A program that cannot be asked, and why: what() is a whole sentence.
struct cannot_ask : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The processes that offer themselves, in the order of their numbers. What a program that has died
/// left behind is removed. Throws cannot_ask when the folder is not this user's alone.
std::vector<pid_t> live_programs();

/// Sends a line to a program and returns the line that it answers, a JSON object without the end of
/// line. Throws cannot_ask when there is no such program, it is another user's, it cannot be looked
/// into, ends meanwhile or does not answer in time. Thread safe.
///
///     std::puts(quern::counters::ask(pid, "snapshot").c_str());
std::string ask(pid_t program, std::string_view request,
                std::chrono::milliseconds patience = std::chrono::seconds(5));

}  // namespace quern::counters
