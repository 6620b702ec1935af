// SPDX-License-Identifier: BSL-1.0
// Parts of an access that are released while its task runs: which bytes are left, and the target
// that waits for the children which use a part. Protocol: README.md, "Parts of an access".
#pragma once

#include <quern/base/detail/blocks.hpp>
#include <quern/base/detail/spin_lock.hpp>
#include <quern/dependences/detail/dependent_task.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace quern::detail {

/// Bytes, as intervals in the order of addresses.
class byte_intervals {
public:
    explicit byte_intervals(const strided_region& all);

    bool has(const strided_region& part) const noexcept;
    /// Whether they have a byte of it.
    bool touches(const strided_region& part) const noexcept;
    /// Takes away what they have of it. Throws std::bad_alloc; then nothing has changed.
    void subtract(const strided_region& part);

private:
    struct interval {
        std::uintptr_t begin;
        std::uintptr_t end;
    };

    std::size_t after(std::uintptr_t at) const noexcept;
    void subtract_row(std::uintptr_t begin, std::uintptr_t end) noexcept;

    std::vector<interval> m_all;
};

/// An access of which a part is released or will be.
struct partly_released {
    explicit partly_released(access_record& one) : of(one), unnamed(one), left(one) {}

    access_record& of;
    byte_intervals unnamed;  ///< what the task has not given up. The running task
    spin_lock lock;          ///< of the rest, and of links to it
    byte_intervals left;     ///< what is not released
    partly_released* next = nullptr;
};

/// A part that is given up: the target of the last children that use it.
struct released_part : access_record, in_blocks {
    released_part(const strided_region& part, partly_released& its_access);

    partly_released& its;
    bool is_void = false;  ///< without memory for its links: released with the access
    const strides rows;
};

/// Nothing is missing to the part: it is released, unless a child has failed. Returns the links
/// that need not wait any longer, the oldest first. The part is gone then.
dependence_link* links_past(released_part& part) noexcept;

}  // namespace quern::detail
