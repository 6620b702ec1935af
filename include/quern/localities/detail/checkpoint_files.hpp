// SPDX-License-Identifier: BSL-1.0
// The files of a checkpoint: a part for each locality that wrote it, with a record for each object,
// and a manifest, which is written last. Formats: src/localities/checkpoint.cpp.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/base/detail/function_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quern::localities::detail {

/// Of a vector, at most.
inline constexpr std::uint64_t k_elements_of_record = 1 << 16;

/// What a manifest says of a whole checkpoint.
struct checkpoint_contents {
    std::string folder;
    std::string kind;         ///< "objects" or "vector"
    std::string type;         ///< of an object or element, as the compiler writes it
    std::uint64_t count = 0;  ///< objects or elements
    std::uint64_t generation =
        0;                    ///< part of the names of its files: older ones stay until the end
    std::uint64_t parts = 0;  ///< files
};

/// Of one locality's file.
struct written_part {
    std::uint64_t records = 0;
    std::uint64_t bytes = 0;
};

/// Makes the folder, and chooses the generation. Throws std::runtime_error.
checkpoint_contents begin_checkpoint(const std::string& folder, const char* kind,
                                     const std::string& type, std::uint64_t count);
/// Adds a record to the calling locality's file. Any thread. Throws std::runtime_error.
void append_record(const std::string& folder, std::uint64_t generation, std::uint64_t key,
                   std::span<const std::byte> bytes);
/// The calling locality's file is complete, and on its medium. Throws std::runtime_error.
written_part end_part(const std::string& folder, std::uint64_t generation);
/// Makes it the folder's checkpoint, and removes the files of earlier ones. Throws
/// std::runtime_error.
void end_checkpoint(const checkpoint_contents& of, const std::vector<written_part>& parts);

/// Reads the manifest. Throws std::runtime_error, also if it is about another kind or type.
checkpoint_contents open_checkpoint(const std::string& folder, const char* kind,
                                    const std::string& type);
/// Calls take(key, bytes) for each record of any part for which wants(key). Throws
/// std::runtime_error for files that are damaged, and what take() throws.
void visit_records(
    const checkpoint_contents& of, quern::detail::function_ref<bool(std::uint64_t)> wants,
    quern::detail::function_ref<void(std::uint64_t, std::span<const std::byte>)> take);
[[noreturn]] void refuse_incomplete(const checkpoint_contents& of, std::uint64_t key);

}  // namespace quern::localities::detail
