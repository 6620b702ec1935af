// SPDX-License-Identifier: BSL-1.0
// Threads of Quern's own that look at something now and then: for counters and for hangs. They take
// no signals, which are the program's, and while they sleep a report of a hang does not wait for
// them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace quern::detail {

/// Calls a function when it is due, until it is destroyed. Not to be destroyed by that function.
class quiet_thread {
public:
    using clock = std::chrono::steady_clock;

    /// `work` returns when it wants to be called next. `name` is what the system shows, at most 15
    /// characters. Throws std::system_error without a thread.
    quiet_thread(const char* name, clock::time_point first,
                 std::function<clock::time_point()> work);
    ~quiet_thread();
    quiet_thread(const quiet_thread&) = delete;
    quiet_thread& operator=(const quiet_thread&) = delete;

    /// It is due at that time if not before.
    void hurry(clock::time_point until);

    /// Whether it belongs to the process that this one has been forked from: it is not here then.
    bool inherited() const noexcept;

private:
    struct state;
    std::unique_ptr<state> m_state;
};

}  // namespace quern::detail
