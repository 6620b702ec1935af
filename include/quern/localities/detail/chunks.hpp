// SPDX-License-Identifier: BSL-1.0
// Chunks: large contiguous data of a parcel, which travel beside its bytes, from object to object.
// The archive notes where they are and where they go; it never reads or writes their contents.
#pragma once

#include <quern/base/detail/config.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace quern::localities {

/// Contiguous data in storage that a container owns on the heap. It stays valid when the container
/// is moved, and until it is changed or destroyed.
struct chunk {
    const std::byte* data;
    std::size_t size;  ///< in bytes
};

/// The chunks of a parcel, in the order in which they were written.
using chunk_list = std::vector<chunk>;

/// The smallest size of a chunk, in bytes. Smaller data are copied into the parcel's bytes. A
/// guess: the size from which MPI libraries send from the sender's memory instead of copying.
inline constexpr std::size_t k_chunk_bytes = 16384;

/// Where a reader tells what the chunks must be received into. They must be received only after all
/// values have been read without an exception: one destroys what they belong into.
class chunk_sink {
public:
    /// The next chunk, in the order in which they were written, belongs into this memory. It stays
    /// valid when the object that is being read is moved. An exception ends the reading.
    virtual void expect(std::span<std::byte> into) = 0;

protected:
    ~chunk_sink() = default;
};

/// Whether chunks may be received inside of a type with functions for serialisation. False unless
/// specialised: such functions may read into a temporary object, or look at what has been read, and
/// a chunk's contents come only later. Specialise it for a type whose functions pass its members
/// themselves to the archive and do nothing else:
///
///     // (fragment)
///     template <>
///     inline constexpr bool quern::localities::is_read_in_place<field> = true;
///
/// Types that are taken apart without such functions need no specialisation.
template <class T>
inline constexpr bool is_read_in_place = false;

}  // namespace quern::localities
