// SPDX-License-Identifier: BSL-1.0
// Shared by exit_actions.cpp (the list of exit actions), interruption.cpp (the signals) and the
// crash handler.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace quern::detail {

/// Performs all exit actions not yet performed, oldest first. Returns where they wrote, in words:
/// "in run.html and on stderr". Takes the lock exit_actions.
std::string perform_exit_actions() noexcept;

/// Prints to stderr what will not be written, if anything. For signal handlers; once.
void say_what_is_lost(std::string_view why) noexcept;

/// Quern handles the signals that the program leaves to the system. Does nothing if no thread can
/// be made. Requires: the lock exit_actions is held.
void take_signals() noexcept;

/// Returns the signals to the system. Returns the thread if it is handling a signal; the caller
/// must wait for it without the lock. Requires: the lock exit_actions is held.
std::unique_ptr<std::thread> leave_signals() noexcept;

}  // namespace quern::detail
