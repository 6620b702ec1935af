// SPDX-License-Identifier: BSL-1.0
// What last_acts.cpp, which keeps the acts, and interruption.cpp, which has the signals, share with
// each other and with the crash handler.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace quern::detail {

/// Performs all that have not been yet, the oldest first. Where they have written, in words: "in
/// run.html and on stderr". Takes the lock last_acts.
std::string perform_last_acts() noexcept;

/// Says on stderr what will not be written, if anything. In a signal handler; once.
void say_what_is_lost(std::string_view why) noexcept;

/// From now on signals that the program leaves to the system are Quern's. Does without them when
/// there is no thread. Requires: the lock last_acts is held.
void take_signals() noexcept;

/// They are the system's again. Returns the thread when it is at work because of a signal, to be
/// waited for without the lock. Requires: the lock last_acts is held.
std::unique_ptr<std::thread> leave_signals() noexcept;

}  // namespace quern::detail
