// SPDX-License-Identifier: BSL-1.0
// Address space for user-level stacks: slabs from the operating system, cut into spans of three
// size classes, each with a guard below it. Called by the context pool when its own lists are
// empty. Memory is never given back to the system before the process or the plug-in ends, so that a
// pointer into the room of a span stays valid memory for a thief that is late.
//
//   low address                                              block (aligned to k_block)
//   | guard page | reserve | stack, growing down ... <- top | room: header, slots ...     |
//
// The last 2 KiB of stack share their page with the beginning of the room: a task that blocks at
// a shallow depth keeps one page of physical memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace quern {

/// How much stack a task gets. Physical memory is used only as far as it is touched.
///
/// What is called through the runtime goes on on a fresh stack when these bytes are used up, so a
/// recursion through it has no limit but the memory. Each call of that kind finds a reserve below
/// them: 320 KiB, or 2 MiB on a large stack. Functions with larger frames need a larger class.
enum class stack_class : std::uint8_t {
    small,   ///< 64 KiB: for very many tasks that block at a shallow depth
    medium,  ///< 512 KiB: the default
    large,   ///< 8 MiB: like a thread; for foreign libraries that recurse
};

inline constexpr std::size_t k_stack_class_count = 3;

/// In the order of the classes.
inline constexpr std::array<std::string_view, k_stack_class_count> k_stack_class_names = {
    "small", "medium", "large"};

/// Bytes of a class above its reserve, less one guard page.
constexpr std::size_t stack_bytes(stack_class c) noexcept {
    constexpr std::size_t k_kib = 1024;
    constexpr std::size_t sizes[] = {64 * k_kib, 512 * k_kib, 8192 * k_kib};
    return sizes[static_cast<std::size_t>(c)];
}

/// Bytes that are left for a call that begins just before a stack of the class counts as used up:
/// frames of 256 KiB, and 64 KiB for what else is called there and for signal frames. Address space
/// alone: docs/design/0012-deep-recursion.md.
constexpr std::size_t stack_reserve(stack_class c) noexcept {
    constexpr std::size_t k_kib = 1024;
    return c == stack_class::large ? 2048 * k_kib : 320 * k_kib;
}

}  // namespace quern

namespace quern::detail {

/// Alignment and size of the block that ends a span. A pointer to a slot finds the header of its
/// span by masking (docs/design/0001-fork-join-fast-path.md).
inline constexpr std::size_t k_block = 32 * 1024;

/// Where the room begins within the block: below it the stack, in the same page.
inline constexpr std::size_t k_room_offset = 2 * 1024;

/// Bytes of room.
inline constexpr std::size_t k_room = k_block - k_room_offset;

/// One stack. Plain value; whoever holds it owns the memory.
struct stack_span {
    char* low = nullptr;   ///< lowest usable byte, just above the guard
    char* top = nullptr;   ///< one past the highest usable byte
    void* room = nullptr;  ///< k_room bytes for the header and the slots of the layer above
    stack_class size = stack_class::medium;

    bool contains(const void* address) const noexcept {
        const auto* const at = static_cast<const char*>(address);
        return at >= low && at < top;
    }
};

/// What stands between a stack and the memory below it.
enum class stack_guard : std::uint8_t {
    page,     ///< guard installed in the page table (Linux >= 6.13); costs no mapping
    mapping,  ///< a page without access; costs two mappings of the process's limit
    canary,   ///< a pattern that is checked when the stack is given back: detected late
};

std::string_view to_string(stack_guard guard) noexcept;

/// A fresh or recycled span. Thread safe. Throws std::bad_alloc when the system has no address
/// space left. Cost: a lock and a list when recycled; a slab of spans is mapped at once.
stack_span allocate_stack(stack_class size);

/// Gives a span back for use by anybody. Thread safe. Requires: nobody runs on it.
void release_stack(const stack_span& span) noexcept;

/// Whether an address lies in the guard below a stack. Safe in a signal handler.
bool is_in_guard(const stack_span& span, const void* address) noexcept;

/// The guard that new stacks get on this system. Thread safe.
stack_guard current_stack_guard() noexcept;

/// Spans cut from the system's memory since the process began, of all classes.
std::size_t stacks_mapped() noexcept;

}  // namespace quern::detail
