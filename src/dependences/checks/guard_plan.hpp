// SPDX-License-Identifier: BSL-1.0
// What the body of one task may do with which memory: made before the body begins, read by the
// signal handler of page_guard.cpp while it runs. The vectors hold at least 64 elements, so that
// none of them lies in a gap between watched regions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace quern::detail {

class context;

/// What a task may do with a byte, as bits.
enum : std::uint8_t {
    may_read = 1,
    may_write = 2,
    writes_first = 4,  ///< `out`: the value before does not count
    for_children = 8,  ///< weak
    in_own_part = 16,  ///< a reduction: the object is not used by the task
};

/// Bytes [begin, end) that a task has declared, all with the same rights.
struct guarded_part {
    static constexpr std::int32_t k_undeclared = -1;

    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    std::int32_t access = k_undeclared;  ///< of the running task; of several, one that writes
    std::uint32_t kind = 0;              ///< of the task that declared it first
    std::uint8_t may = 0;
    std::uint8_t begun = 0;   ///< its first, last and other pages that were used: bits 1, 2, 4
    bool is_touched = false;  ///< written by the handler
};

struct guarded_page {
    enum class use_of : std::uint8_t {
        none,   ///< the task declares nothing in it
        read,   ///< all of it is read by one access
        write,  ///< all of it is written by one access
        mixed,  ///< several accesses, or bytes that the task does not declare
    };

    std::uintptr_t begin = 0;
    use_of use = use_of::none;
    std::uint8_t protection = 0;  ///< of the moment: PROT_NONE and so on
    bool is_shared = false;       ///< other code has used it meanwhile
};

enum class mistake_kind : std::uint8_t {
    undeclared,   ///< no access there
    only_read,    ///< a write under `in`
    reads_first,  ///< `out`, read before it was written
    weak,         ///< used by the task itself
    reduction,    ///< the object is used in the place of the part
};

/// What a body has done that its accesses do not allow.
struct forbidden_use {
    mistake_kind what = mistake_kind::undeclared;
    bool is_write = false;
    std::uint32_t part = 0;  ///< of the plan
    std::uintptr_t address = 0;
    const void* instruction = nullptr;  ///< null: found by comparison
};

struct guard_plan {
    guard_plan() {
        parts.reserve(k_least);
        pages.reserve(k_least);
    }

    std::vector<guarded_part> parts;  ///< sorted
    std::vector<guarded_page> pages;  ///< sorted
    const context* body = nullptr;    ///< the root context of the task
    std::array<forbidden_use, 32> found{};
    std::size_t found_count = 0;

    static constexpr std::size_t k_least = 64;

    /// Handlers too. Dropped when there is no room, or it is found already.
    void add(const forbidden_use& one) noexcept {
        for (std::size_t i = 0; i < found_count; ++i) {
            if (found[i].what == one.what && found[i].is_write == one.is_write &&
                found[i].part == one.part) {
                return;
            }
        }
        if (found_count < found.size()) {
            found[found_count++] = one;
        }
    }
};

}  // namespace quern::detail
