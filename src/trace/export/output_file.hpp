// SPDX-License-Identifier: BSL-1.0
// The output of recordings: a file that is replaced atomically, or a stream of the process.
#pragma once

#include <quern/base/detail/function_ref.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>

namespace quern::trace::detail {

/// The path for the n-th runtime of a process that writes it: "run.2.pftrace" for the second.
/// Streams, devices and pipes are shared.
std::string numbered(const std::string& path, unsigned number);

/// The file at a path at one moment: whether it is still the same can be asked later.
class file_mark {
public:
    /// Of a stream, a device or a pipe: one that never changes.
    explicit file_mark(const std::string& path) noexcept;

    /// Whether the path now names another file, or one with another content.
    bool has_changed(const std::string& path) const noexcept;

private:
    bool m_is_file = false;
    std::uint64_t m_device = 0;
    std::uint64_t m_node = 0;
    std::int64_t m_written_ns = 0;
};

/// Calls write(stream) for the file, or for stdout and stderr under these names. Devices and pipes
/// are written directly. Returns the error, or an empty text.
std::string write_output(const std::string& path,
                         quern::detail::function_ref<void(std::ostream&)> write);

}  // namespace quern::trace::detail
