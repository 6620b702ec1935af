// SPDX-License-Identifier: BSL-1.0
// The memory of Python objects as regions of the layer dependences.
#pragma once

#include <nanobind/nanobind.h>

#include <quern/dependences/access_list.hpp>

#include <cstdint>

namespace quern::python {

enum class access_of_region : std::uint8_t { read, write, update };

/// Adds an access of each object's memory: exact for arrays of up to four dimensions after those
/// that are neighbours are joined, else of all bytes from the first to the last. Throws
/// nanobind::python_error (TypeError) for an object without memory that it shows, and
/// std::invalid_argument for a read-only one that is to be written. Requires: the GIL.
void add_regions(access_list& to, nanobind::list objects, access_of_region how);

}  // namespace quern::python
