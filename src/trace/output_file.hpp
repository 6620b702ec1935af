// SPDX-License-Identifier: BSL-1.0
// Where the settings send what was recorded: a file that appears whole or not at all, or a stream
// of the process.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

namespace quern::trace::detail {

/// The path for the n-th runtime of a process that writes it: "run.2.pftrace" for the second.
/// A stream, a device or a pipe is for all of them.
std::string numbered(const std::string& path, unsigned number);

/// Calls write(stream) for the file, or for stdout and stderr under these names. A device or a
/// pipe is written to. Returns what went wrong, or nothing.
std::string write_output(const std::string& path, void (*write)(std::ostream& to, const void* data),
                         const void* data);

}  // namespace quern::trace::detail
