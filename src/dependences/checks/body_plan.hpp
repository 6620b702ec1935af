// SPDX-License-Identifier: BSL-1.0
// Makes the plan of what the body of a task may do with the watched memory, and compares what page
// protection does not cover.
#pragma once

#include "checks/guard_plan.hpp"
#include "checks/watched_regions.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quern::detail {

struct access_record;
struct region;

/// A row of an access, or a part of one: disjoint, each with the rights of all accesses there.
struct declared_row {
    byte_range bytes;
    std::int32_t access = 0;
    std::uint8_t may = 0;
};

/// Of all accesses, sorted. `with_weak`: these count as rights of the task, which they are for its
/// children. Throws std::bad_alloc.
std::vector<declared_row> declared_rows(std::span<const access_record> accesses, bool with_weak);

/// Calls call(byte_range) for each row of an access that has bytes.
template <class Access, class F>
void for_each_row_of(const Access& access, F call) {
    if (access.is_empty || access.bytes == 0) {
        return;
    }
    const auto row = [&](std::uintptr_t begin) { call(byte_range{begin, begin + access.bytes}); };
    if (access.shape != nullptr) {
        access.shape->for_each_row(access.begin, row);
    } else {
        row(access.begin);
    }
}

/// Fills plan.parts and plan.pages. `was_aside`: part of the body has run, so `out` may have been
/// written. Throws std::bad_alloc.
void make_plan(guard_plan& plan, watched_regions& watched, std::span<const access_record> accesses,
               bool was_aside);

/// The bytes that a task must not write and whose pages are not protected, before its body.
class snapshot {
public:
    /// Throws std::bad_alloc.
    void take(const guard_plan& plan);
    /// Adds what has changed to plan.found.
    void compare(guard_plan& plan) const;

private:
    struct piece {
        byte_range bytes;
        std::uint32_t part;
        std::size_t offset;  ///< in m_bytes
    };
    void add(const byte_range& bytes, std::size_t part);

    std::vector<piece> m_pieces;
    std::vector<std::byte> m_bytes;
};

}  // namespace quern::detail
