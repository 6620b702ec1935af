// SPDX-License-Identifier: BSL-1.0
// Memory for what is small, made by one thread and often given up by another: tasks, states of
// futures, frames. Each worker keeps blocks of its own; they travel between workers by magazine,
// through a depot, so neither making nor giving up takes a lock or touches what others write. After
// Bonwick and Adams, Magazines and Vmem (USENIX 2001), section 3. Why not the C library's memory:
// docs/design/0010-memory-of-tasks.md.
#pragma once

#include <quern/base/cache_line.hpp>
#include <quern/base/config.hpp>
#include <quern/base/thread_word.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

namespace quern::detail {

/// Sizes are rounded up to a multiple of this, which is also how a block is aligned.
inline constexpr std::size_t k_block_step = 16;
/// What is larger comes from operator new.
inline constexpr std::size_t k_largest_block = 512;
inline constexpr std::size_t k_block_classes = k_largest_block / k_block_step;

/// Free blocks that move between a thread and the depot together. They are named here and not
/// linked through one another: to follow links that another core has written costs a cache miss for
/// each block before it is even used.
struct alignas(k_cache_line) magazine {
    static constexpr std::uint32_t k_rounds = 62;

    magazine* next;
    std::array<void*, k_rounds> blocks;
};

/// What the calling thread keeps for itself while this lives. Without one a thread goes to the
/// depot for each block. What is left goes to the depot at the end.
class block_cache {
public:
    block_cache() noexcept;
    ~block_cache();
    block_cache(const block_cache&) = delete;
    block_cache& operator=(const block_cache&) = delete;

    /// Room for two magazines, so that a thread on the edge of one does not go to the depot each
    /// time; and memory that nobody has used yet.
    struct shelf {
        static constexpr std::uint32_t k_room = 2 * magazine::k_rounds + 1;

        std::uint32_t count = 0;
        std::byte* fresh = nullptr;
        std::byte* fresh_end = nullptr;
        std::array<void*, k_room> blocks;  // the first `count`, the youngest last

        /// The youngest; requires one. What the thread takes soon has perhaps been written by
        /// another core: it is fetched meanwhile.
        QUERN_ALWAYS_INLINE void* take(std::size_t bytes) noexcept {
            constexpr std::uint32_t k_ahead = 4;
            constexpr int k_to_write = 1;
            void* const block = blocks[--count];
            if (count >= k_ahead) {
                const auto* const later = static_cast<const std::byte*>(blocks[count - k_ahead]);
                for (std::size_t at = 0; at < bytes; at += k_cache_line) {
                    __builtin_prefetch(later + at, k_to_write);
                }
            }
            return block;
        }
    };
    static_assert(sizeof(shelf) == 1024, "found by a shift");
    std::array<shelf, k_block_classes> shelves;
};

/// Memory from the system for blocks, and how much of it is in use; bytes.
struct block_totals {
    std::size_t held = 0;     ///< from the system
    std::size_t carved = 0;   ///< of that, made into blocks
    std::size_t waiting = 0;  ///< of that, in the depot; what workers keep for themselves is in use
};
block_totals read_block_totals() noexcept;

/// For tests: asked before a thread takes a block from the depot, false is std::bad_alloc.
using block_permission = bool (*)() noexcept;
void set_block_permission(block_permission ask) noexcept;

/// What allocate_block() and free_block() do where the thread has no cache, the shelf is empty or
/// full, or the size is none of blocks.
QUERN_NOINLINE void* allocate_block_slowly(std::size_t bytes);
QUERN_NOINLINE void free_block_slowly(void* block, std::size_t bytes) noexcept;

/// The cache of this thread; null without one, and where the library was built for a sanitizer.
QUERN_THREAD_WORD block_cache* quern_tls_blocks;
QUERN_ALWAYS_INLINE block_cache* quick_block_cache() noexcept {
    QUERN_READ_THREAD_WORD(block_cache, quern_tls_blocks);
}

constexpr std::size_t block_class(std::size_t bytes) noexcept {
    return bytes == 0 ? 0 : (bytes - 1) / k_block_step;
}

/// Any thread. Throws std::bad_alloc. All memory goes back to the system when the last cache has
/// gone and the last block is free. Where the library was built for a sanitizer, which is to see
/// each use, this is operator new.
QUERN_ALWAYS_INLINE void* allocate_block(std::size_t bytes) {
    block_cache* const cache = quick_block_cache();
    if (cache != nullptr && bytes <= k_largest_block) [[likely]] {
        block_cache::shelf& own = cache->shelves[block_class(bytes)];
        if (own.count != 0) [[likely]] {
            return own.take(bytes);
        }
    }
    return allocate_block_slowly(bytes);
}
/// Any thread. The size is that with which it was allocated.
QUERN_ALWAYS_INLINE void free_block(void* block, std::size_t bytes) noexcept {
    block_cache* const cache = quick_block_cache();
    if (cache != nullptr && block != nullptr && bytes <= k_largest_block) [[likely]] {
        block_cache::shelf& own = cache->shelves[block_class(bytes)];
        if (own.count != block_cache::shelf::k_room) [[likely]] {
            own.blocks[own.count++] = block;
            return;
        }
    }
    free_block_slowly(block, bytes);
}

/// The same with blocks in any case, up to k_largest_block; for tests.
void* take_block(std::size_t bytes);
void give_block(void* block, std::size_t bytes) noexcept;

/// A base of classes whose objects are to lie in blocks when they are made with new. Requires:
/// deleted as what they were made as.
struct in_blocks {
    static void* operator new(std::size_t bytes) { return allocate_block(bytes); }
    static void operator delete(void* block, std::size_t bytes) noexcept {
        free_block(block, bytes);
    }
    static void* operator new(std::size_t bytes, std::align_val_t alignment) {
        return ::operator new(bytes, alignment);
    }
    static void operator delete(void* block, std::size_t, std::align_val_t alignment) noexcept {
        ::operator delete(block, alignment);
    }
    static void* operator new(std::size_t, void* where) noexcept { return where; }
};

}  // namespace quern::detail
