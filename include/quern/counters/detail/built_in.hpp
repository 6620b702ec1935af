// SPDX-License-Identifier: BSL-1.0
// How a layer above adds counters of Quern's own; not for users. They are made with the built-in
// ones, when counters are first used, so that a program that uses none pays nothing.
#pragma once

#include <quern/counters/source.hpp>

#include <memory>

namespace quern::counters::detail {

using make_source = std::unique_ptr<source> (*)();

/// At most 8; later calls with the same function do nothing. Before the first use of counters.
/// Thread safe.
void add_built_in(make_source how) noexcept;

}  // namespace quern::counters::detail
