// SPDX-License-Identifier: BSL-1.0
// Allocator for small objects that one thread creates and often another one frees: tasks, states of
// futures, frames. Each worker caches blocks. They move between workers in magazines, through a
// shared pool, so allocating and freeing take no lock and touch no cache line that others write.
// After Bonwick and Adams, Magazines and Vmem (USENIX 2001), section 3. Why not malloc:
// docs/design/0010-memory-of-tasks.md.
#pragma once

#include <quern/base/detail/cache_line.hpp>
#include <quern/base/detail/config.hpp>
#include <quern/base/detail/thread_word.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

namespace quern::detail {

/// Sizes are rounded up to a multiple of this, which is also a block's alignment.
inline constexpr std::size_t k_block_step = 16;
/// Larger sizes come from operator new.
inline constexpr std::size_t k_largest_block = 512;
inline constexpr std::size_t k_block_classes = k_largest_block / k_block_step;

/// Free blocks that move between a thread and the shared pool together. Stored as an array instead
/// of a linked list: following links that another core has written costs a cache miss per block
/// before its use.
struct alignas(k_cache_line) magazine {
    static constexpr std::uint32_t k_rounds = 62;

    magazine* next;
    std::array<void*, k_rounds> blocks;
};

/// The calling thread's cache during its lifetime. A thread without one accesses the shared pool
/// for each block. The destructor returns the remaining blocks.
class block_cache {
public:
    block_cache() noexcept;
    ~block_cache();
    block_cache(const block_cache&) = delete;
    block_cache& operator=(const block_cache&) = delete;

    /// The free blocks of one size: room for two magazines, so that a thread at the boundary of one
    /// does not access the shared pool each time; and memory not carved yet.
    struct free_list {
        static constexpr std::uint32_t k_room = 2 * magazine::k_rounds + 1;

        std::uint32_t count = 0;
        std::byte* fresh = nullptr;
        std::byte* fresh_end = nullptr;
        std::array<void*, k_room> blocks;  // the first `count` are valid, the youngest last

        /// Takes the youngest; requires one. Prefetches a block that will be taken soon, since
        /// another core may have written it.
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
    static_assert(sizeof(free_list) == 1024, "found by a shift");
    std::array<free_list, k_block_classes> lists;
};

/// Memory from the system for blocks, and its use; bytes.
struct block_totals {
    std::size_t held = 0;     ///< from the system
    std::size_t carved = 0;   ///< carved into blocks
    std::size_t waiting = 0;  ///< in the shared pool; blocks in workers' caches count as used
};
block_totals read_block_totals() noexcept;

/// For tests: called before a thread takes a block from the shared pool; false throws
/// std::bad_alloc.
using block_permission = bool (*)() noexcept;
void set_block_permission(block_permission ask) noexcept;

/// Slow paths of allocate_block() and free_block(): the thread has no cache, its list of the size
/// is empty or full, or the size is too large.
QUERN_NOINLINE void* allocate_block_slowly(std::size_t bytes);
QUERN_NOINLINE void free_block_slowly(void* block, std::size_t bytes) noexcept;

/// The cache of this thread; null if it has none, or if the library was built for a sanitizer.
QUERN_THREAD_WORD block_cache* quern_tls_blocks;
QUERN_ALWAYS_INLINE block_cache* quick_block_cache() noexcept {
    QUERN_READ_THREAD_WORD(block_cache, quern_tls_blocks);
}

constexpr std::size_t block_class(std::size_t bytes) noexcept {
    return bytes == 0 ? 0 : (bytes - 1) / k_block_step;
}

/// Any thread. Throws std::bad_alloc. All memory is returned to the system when the last cache is
/// destroyed and the last block is free. In a library built for a sanitizer this is operator new,
/// so that the sanitizer sees each use.
QUERN_ALWAYS_INLINE void* allocate_block(std::size_t bytes) {
    block_cache* const cache = quick_block_cache();
    if (cache != nullptr && bytes <= k_largest_block) [[likely]] {
        block_cache::free_list& own = cache->lists[block_class(bytes)];
        if (own.count != 0) [[likely]] {
            return own.take(bytes);
        }
    }
    return allocate_block_slowly(bytes);
}
/// Any thread. `bytes` must be the allocated size.
QUERN_ALWAYS_INLINE void free_block(void* block, std::size_t bytes) noexcept {
    block_cache* const cache = quick_block_cache();
    if (cache != nullptr && block != nullptr && bytes <= k_largest_block) [[likely]] {
        block_cache::free_list& own = cache->lists[block_class(bytes)];
        if (own.count != block_cache::free_list::k_room) [[likely]] {
            own.blocks[own.count++] = block;
            return;
        }
    }
    free_block_slowly(block, bytes);
}

/// Always blocks, also under sanitizers, up to k_largest_block; for tests.
void* take_block(std::size_t bytes);
void give_block(void* block, std::size_t bytes) noexcept;

/// Base of classes whose objects are allocated as blocks by new. Requires: deleted as their dynamic
/// type.
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
