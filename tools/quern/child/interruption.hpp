// SPDX-License-Identifier: BSL-1.0
// Signals that ask this process to end, read like a file while a program runs for it.
#pragma once

#include "child/child.hpp"

#include <csignal>

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
    int arrivals() const noexcept { return m_arrivals.number(); }

    /// The mask to give to programs.
    const sigset_t& mask_before() const noexcept { return m_before; }

private:
    sigset_t m_mine;
    sigset_t m_before{};
    descriptor m_arrivals;
    int m_signal = 0;
    bool m_is_from_terminal = false;
};

}  // namespace quern::tool
