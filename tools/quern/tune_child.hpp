// SPDX-License-Identifier: BSL-1.0
// One run of the program that `quern tune` tunes: starts it, collects its output, stops it when it
// takes too long, and waits for it. Ends only process groups that it started.
#pragma once

#include <csignal>

#include <string>
#include <vector>

namespace quern::tool {

/// While it exists, SIGINT, SIGTERM and SIGHUP do not end this process but are read by signal().
/// Signals that the process ignores stay ignored.
class interruption {
public:
    interruption();
    ~interruption();
    interruption(const interruption&) = delete;
    interruption& operator=(const interruption&) = delete;

    /// The first signal that has arrived; 0: none.
    int signal();

    /// Whether a key on the terminal sent it, so that the whole process group has got it.
    bool is_from_terminal() const noexcept { return m_is_from_terminal; }

    /// Readable when a signal has arrived that signal() has not read.
    int descriptor() const noexcept { return m_descriptor; }

    /// The mask to give to programs.
    const sigset_t& mask_before() const noexcept { return m_before; }

private:
    sigset_t m_before{};
    int m_descriptor = -1;
    int m_signal = 0;
    bool m_is_from_terminal = false;
};

/// A program with its arguments and additions to the environment ("NAME=value").
struct program_words {
    std::vector<std::string> variables{};
    std::vector<std::string> command{};
};

/// How a run ended.
struct child_end {
    double seconds = 0;       ///< from before its start to its end
    bool is_stopped = false;  ///< by the limit or by a signal to this process
    std::string failure{};    ///< "exit status 3"; empty: it worked, or it was stopped
    std::string output{};     ///< of stdout and stderr; the last part if it is long
};

/// Runs a program with /dev/null as its input, in a process group of its own. Past the limit, or
/// when a signal interrupts, the group gets SIGTERM, a second later SIGKILL. Throws
/// std::system_error when the system refuses what every run needs.
child_end run_child(const program_words& program, double limit_s, interruption& interrupted);

}  // namespace quern::tool
