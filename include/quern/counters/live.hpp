// SPDX-License-Identifier: BSL-1.0
// Looking into a program from outside, while it runs: `quern top`, `quern tasks`, `quern counters`.
// A program that includes this header can be asked, unless the setting live is off: a thread that
// sleeps until somebody connects. The other side is programs.hpp; docs/looking-in.md has the
// questions and the answers.
#pragma once

namespace quern::detail {

/// From now on runtimes that start can be looked into. Returns true.
bool allow_looking_in() noexcept;

/// A reference from the program, without which a linker would leave the code out of it.
inline const bool k_can_be_looked_into = allow_looking_in();

}  // namespace quern::detail
