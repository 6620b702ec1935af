// SPDX-License-Identifier: BSL-1.0
// Reductions of tasks as gcc describes them: words 0 count, 1 bytes for each thread, 2 alignment,
// which is replaced by the memory, 4 the next descriptor, 6 the end of the memory; from word 7 on
// three for each variable: its address, where its private copy lies, and one for the compiler.
#pragma once

#include "core/team.hpp"

#include <cstddef>
#include <cstdint>

namespace quern::omp {

/// Gives each member memory for the private copies, all zero, within the present taskgroup.
void register_reductions(member& here, std::uintptr_t* descriptor) noexcept;
/// The same for a descriptor of another member for the same construct: it shares the memory.
void share_reductions(member& here, std::uintptr_t* descriptor,
                      const std::uintptr_t* first) noexcept;
/// Gives memory for `members` to a list of descriptors that belongs to no taskgroup yet.
void allocate_reductions(std::uintptr_t* descriptor, unsigned members) noexcept;
/// Frees the memory. The taskgroup has ended.
void unregister_reductions(std::uintptr_t* descriptor) noexcept;
/// Replaces addresses of variables, or of other members' copies, by those of the member's copies.
/// The first `originals` addresses of variables are stored behind the `count` ones.
void remap_reductions(const member& here, std::size_t count, std::size_t originals,
                      void** addresses) noexcept;

}  // namespace quern::omp
