// SPDX-License-Identifier: BSL-1.0
// Address space for user-level stacks: slabs from the operating system, cut into spans of three
// size classes, each with a guard below it. Called by the context pool when its own lists are
// empty. Memory is returned to the system only when the process ends or the plug-in is unloaded, so
// a late thief's pointer into the room of a span stays valid.
//
//   low address                                              block (aligned to k_block)
//   | guard page | reserve | stack, growing down ... <- top | room: header, slots ...     |
//
// The last 2 KiB of stack share their page with the beginning of the room, so a task that blocks at
// a shallow depth keeps one page of physical memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace quern {

/// The stack size of a task. Physical memory is used only as far as it is touched.
///
/// When these bytes are used up, calls through the runtime continue on a fresh stack, so recursion
/// through it is limited only by memory. Each such call has a reserve below them: 320 KiB, or 2 MiB
/// on a large stack. Functions with larger frames need a larger class.
enum class stack_class : std::uint8_t {
    small,   ///< 64 KiB: for very many tasks that block at a shallow depth
    medium,  ///< 512 KiB: the default
    large,   ///< 8 MiB: like a thread; for recursive foreign libraries
};

inline constexpr std::size_t k_stack_class_count = 3;

/// In the order of the classes.
inline constexpr std::array<std::string_view, k_stack_class_count> k_stack_class_names = {
    "small", "medium", "large"};

/// Bytes of a class above its reserve, without one guard page.
constexpr std::size_t stack_bytes(stack_class c) noexcept {
    constexpr std::size_t k_kib = 1024;
    constexpr std::size_t sizes[] = {64 * k_kib, 512 * k_kib, 8192 * k_kib};
    return sizes[static_cast<std::size_t>(c)];
}

/// Bytes left for a call that begins just before a stack counts as used up: frames of 256 KiB, and
/// 64 KiB for nested calls and signal frames. Costs only address space:
/// docs/design/0012-deep-recursion.md.
constexpr std::size_t stack_reserve(stack_class c) noexcept {
    constexpr std::size_t k_kib = 1024;
    return c == stack_class::large ? 2048 * k_kib : 320 * k_kib;
}

}  // namespace quern

namespace quern::detail {

/// Alignment and size of the block at the end of a span. Masking a pointer to a slot gives the
/// header of its span (docs/design/0001-fork-join-fast-path.md).
inline constexpr std::size_t k_block = 32 * 1024;

/// Offset of the room within the block; the stack ends below it, in the same page.
inline constexpr std::size_t k_room_offset = 2 * 1024;

inline constexpr std::size_t k_room = k_block - k_room_offset;

/// One stack. Plain value; its holder owns the memory.
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

/// The guard between a stack and the memory below it.
enum class stack_guard : std::uint8_t {
    page,     ///< guard installed in the page table (Linux >= 6.13); costs no mapping
    mapping,  ///< a page without access; uses two mappings of the process's limit
    canary,   ///< a pattern, checked when the stack is released: late detection
};

std::string_view to_string(stack_guard guard) noexcept;

/// A fresh or recycled span. Thread safe. Throws std::bad_alloc if the system has no address space
/// left. Cost: recycled, a lock and a list; fresh spans are mapped a slab at a time.
stack_span allocate_stack(stack_class size);

/// Returns a span for reuse. Thread safe. Requires: no code runs on it.
void release_stack(const stack_span& span) noexcept;

/// Whether an address lies in the guard below a stack. Safe in a signal handler.
bool is_in_guard(const stack_span& span, const void* address) noexcept;

/// The kind of guard of new stacks on this system. Thread safe.
stack_guard current_stack_guard() noexcept;

/// Spans mapped since the process began, of all classes.
std::size_t stacks_mapped() noexcept;

}  // namespace quern::detail
