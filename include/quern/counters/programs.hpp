// SPDX-License-Identifier: BSL-1.0
// Finds the programs of this user that can be inspected and queries them. Used by `quern top`,
// `quern tasks` and `quern counters`; other programs may use it too.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace quern::counters {

/// Incremented when the meaning of an answer changes; additions keep the number.
inline constexpr int k_live_protocol = 1;

/// A program cannot be queried; what() is a whole sentence with the reason.
struct cannot_ask : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A program stopped answering: it, or its last runtime, has ended.
struct program_ended : cannot_ask {
    using cannot_ask::cannot_ask;
};

/// The processes of this user that can be inspected, ordered by process id. Removes stale files of
/// dead programs. Throws cannot_ask if other users may write to the folder.
std::vector<pid_t> live_programs();

/// A connection to a program, for several requests. Used by one thread at a time.
class conversation {
public:
    /// Throws cannot_ask if the program does not exist, belongs to another user (and this process
    /// is not root), or cannot be inspected.
    explicit conversation(pid_t with);
    ~conversation();
    conversation(const conversation&) = delete;
    conversation& operator=(const conversation&) = delete;

    /// Sends a line and returns the answer, a JSON object in one line, without the newline. Throws
    /// program_ended, or cannot_ask if the program does not answer in time.
    std::string ask(std::string_view request,
                    std::chrono::milliseconds patience = std::chrono::seconds(5));

private:
    const pid_t m_with;
    const int m_socket;
};

/// A single request. Throws as conversation does. Thread safe.
///
///     std::puts(quern::counters::ask(pid, "snapshot").c_str());
std::string ask(pid_t program, std::string_view request,
                std::chrono::milliseconds patience = std::chrono::seconds(5));

}  // namespace quern::counters
