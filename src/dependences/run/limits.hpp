// SPDX-License-Identifier: BSL-1.0
// Settings that are knobs too: the limit of live tasks of a domain, the bytes from which a task is
// placed, the bytes of all versions of renamed objects.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quern::detail {

std::int64_t live_tasks_limit() noexcept;

/// A task with so many bytes runs where most of them were written. More than any has: none does.
std::size_t locality_limit() noexcept;

/// The setting and knob `renaming-bytes`. 0: nothing is renamed.
std::size_t renaming_limit() noexcept;

/// Adds the settings and the knobs of this layer. Called once.
void add_limits();

}  // namespace quern::detail
