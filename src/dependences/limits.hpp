// SPDX-License-Identifier: BSL-1.0
// Settings that are knobs too: the limit of live tasks of a domain, the bytes from which a task is
// placed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quern::detail {

std::int64_t live_tasks_limit() noexcept;

/// A task with so many bytes runs where most of them were written. More than any has: none does.
std::size_t locality_limit() noexcept;

}  // namespace quern::detail
