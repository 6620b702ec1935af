// SPDX-License-Identifier: BSL-1.0
// The part of the profile that says what tasks waited for. Private to the layer.
#pragma once

#include <quern/trace/recording.hpp>

#include <iosfwd>

namespace quern::trace::detail {

/// A line for each thing that tasks of a site waited for; nothing where no task has waited.
void write_waits(const recording& run, std::ostream& to);

}  // namespace quern::trace::detail
