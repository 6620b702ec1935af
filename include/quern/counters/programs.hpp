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

/// A program that answered and does no more: it, or its last runtime, has ended.
struct program_ended : cannot_ask {
    using cannot_ask::cannot_ask;
};

/// The processes of this user that offer themselves, in the order of their numbers. What a program
/// that has died left behind is removed. Throws cannot_ask when others may enter the folder.
std::vector<pid_t> live_programs();

/// A connection to a program, for several questions. Used by one thread at a time.
class conversation {
public:
    /// Throws cannot_ask when there is no such program, it is another user's (and this is not
    /// root), or it cannot be looked into.
    explicit conversation(pid_t with);
    ~conversation();
    conversation(const conversation&) = delete;
    conversation& operator=(const conversation&) = delete;

    /// Sends a line and returns the line that the program answers, a JSON object, without the end
    /// of line. Throws program_ended, or cannot_ask when it does not answer in time.
    std::string ask(std::string_view request,
                    std::chrono::milliseconds patience = std::chrono::seconds(5));

private:
    const pid_t m_with;
    const int m_socket;
};

/// A single question. Throws as conversation does. Thread safe.
///
///     std::puts(quern::counters::ask(pid, "snapshot").c_str());
std::string ask(pid_t program, std::string_view request,
                std::chrono::milliseconds patience = std::chrono::seconds(5));

}  // namespace quern::counters
