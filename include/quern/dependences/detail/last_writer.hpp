// SPDX-License-Identifier: BSL-1.0
// The worker that last wrote the data of an access. Noted in records of accesses and in fragments,
// so that a ready task can run where its data are: src/dependences/README.md, "Locality". A hint:
// it orders nothing.
#pragma once

#include <cstdint>

namespace quern::detail {

/// The rank of a worker in the pool of the domain, or one of the two below.
using writer_rank = std::uint16_t;

inline constexpr writer_rank k_no_writer = 0xFFFF;  ///< none is known
inline constexpr writer_rank k_too_small = 0xFFFE;  ///< of a task: its data are moved faster

/// Of the process, since it began: large tasks that had a last writer, and those of them that began
/// there.
struct locality_totals {
    std::uint64_t with_writer = 0;
    std::uint64_t at_writer = 0;
};

/// Any thread.
locality_totals read_locality() noexcept;

}  // namespace quern::detail
