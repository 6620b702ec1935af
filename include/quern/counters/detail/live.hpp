// SPDX-License-Identifier: BSL-1.0
// The inspected side of `quern top`, `quern tasks` and `quern counters`. A program that includes
// this header can be queried from outside while it runs, unless the setting live is off: a thread
// sleeps until a client connects. The client side is programs.hpp; docs/looking-in.md has the
// requests and answers.
#pragma once

namespace quern::detail {

class json;

/// Adds its fields to the answer to a request. Called by the thread for time; must not wait for
/// tasks.
using live_answer = void (*)(json& to);

/// From now on programs answer this request, too: for the layers above. `word` must live as long as
/// the process. At most 8; later calls with the same word do nothing. Thread safe.
void add_live_answer(const char* word, live_answer how) noexcept;

/// Runtimes started from now on can be inspected. Returns true.
bool allow_looking_in() noexcept;

/// A reference from the program, so that a linker does not drop the code.
inline const bool k_can_be_looked_into = allow_looking_in();

}  // namespace quern::detail
