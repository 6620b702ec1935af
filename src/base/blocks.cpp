// SPDX-License-Identifier: BSL-1.0
// The shared pool of blocks, and the two paths of a block: within its thread, and through the
// shared pool.
#include <quern/base/detail/blocks.hpp>

#include <quern/base/detail/process.hpp>

#include <sys/mman.h>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

namespace quern::detail {

namespace {

constexpr std::uint32_t k_rounds = magazine::k_rounds;

/// Number of blocks carved at a time.
constexpr std::size_t k_batch = 64;

/// Memory is mapped in chunks. The pages of all but the first are populated at once: programs with
/// few tasks need few pages; for the others a page fault per page would cost more.
constexpr std::size_t k_chunk = 256U << 10;

constexpr std::size_t bytes_of(std::size_t which) noexcept { return (which + 1) * k_block_step; }

/// Whether memory of that size comes from operator new.
constexpr bool is_plain(std::size_t bytes) noexcept {
    return k_asan || k_tsan || bytes > k_largest_block;
}

/// Null if the system has none.
std::byte* map_chunk(bool is_first) noexcept {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (is_first ? 0 : MAP_POPULATE);
    void* const got = ::mmap(nullptr, k_chunk, PROT_READ | PROT_WRITE, flags, -1, 0);
    return got != MAP_FAILED ? static_cast<std::byte*>(got) : nullptr;
}

/// The first word of a block that is in the shared pool outside of a magazine.
struct loose_block {
    loose_block* next;
};

/// The shared pool. Every function requires the process lock for it.
class block_pool {
public:
    /// The header of a chunk. Chunks stay until everything is free.
    struct chunk {
        chunk* next;
    };
    static_assert(sizeof(chunk) <= k_cache_line);

    /// Null if there is none.
    magazine* take_full(std::size_t which) noexcept {
        magazine* const full = m_full[which];
        if (full != nullptr) {
            m_full[which] = full->next;
            m_free[which] -= k_rounds;
        }
        return full;
    }

    void give_full(std::size_t which, magazine& full) noexcept {
        full.next = std::exchange(m_full[which], &full);
        m_free[which] += k_rounds;
    }

    /// Null if the system has no memory.
    magazine* take_empty() noexcept {
        if (m_empty != nullptr) {
            return std::exchange(m_empty, m_empty->next);
        }
        std::byte* const memory = cut(sizeof(magazine));
        return memory != nullptr ? ::new (memory) magazine : nullptr;
    }

    void give_empty(magazine& empty) noexcept { empty.next = std::exchange(m_empty, &empty); }

    /// A single block, or null.
    void* take_loose(std::size_t which) noexcept {
        if (m_loose[which] == nullptr) {
            if (magazine* const full = take_full(which)) {
                for (void* const block : full->blocks) {
                    give_loose(which, block);
                }
                give_empty(*full);
            }
        }
        loose_block* const block = m_loose[which];
        if (block != nullptr) {
            m_loose[which] = block->next;
            --m_free[which];
        }
        return block;
    }

    void give_loose(std::size_t which, void* memory) noexcept {
        m_loose[which] = ::new (memory) loose_block{m_loose[which]};
        ++m_free[which];
    }

    /// Fresh memory for a batch; null if the system has no more.
    std::byte* carve(std::size_t which) noexcept {
        std::byte* const memory = cut(k_batch * bytes_of(which));
        m_carved[which] += memory != nullptr ? k_batch : 0;
        return memory;
    }

    /// Returns all memory to the system if none is in use.
    void release_if_unused() noexcept {
        if (m_caches != 0 || m_carved != m_free) {
            return;
        }
        for (chunk* c = std::exchange(m_chunks, nullptr); c != nullptr;) {
            chunk* const next = c->next;
            ::munmap(c, k_chunk);
            c = next;
        }
        m_full = {};
        m_loose = {};
        m_empty = nullptr;
        m_free = m_carved = {};
        m_next = nullptr;
        m_room = 0;
        m_held = 0;
    }

    void add_cache() noexcept { ++m_caches; }
    void remove_cache() noexcept { --m_caches; }

    block_totals totals() const noexcept {
        block_totals sum{.held = m_held};
        for (std::size_t which = 0; which < k_block_classes; ++which) {
            sum.carved += m_carved[which] * bytes_of(which);
            sum.waiting += m_free[which] * bytes_of(which);
        }
        return sum;
    }

private:
    using counts = std::array<std::size_t, k_block_classes>;

    std::byte* cut(std::size_t bytes) noexcept {
        if (m_room < bytes && !grow()) {
            return nullptr;
        }
        m_room -= bytes;
        return std::exchange(m_next, m_next + bytes);
    }

    /// The rest of the last chunk, less than a batch, is wasted.
    bool grow() noexcept {
        std::byte* const begin = map_chunk(m_chunks == nullptr);
        if (begin == nullptr) {
            return false;
        }
        m_chunks = ::new (begin) chunk{m_chunks};
        m_next = begin + k_cache_line;
        m_room = k_chunk - k_cache_line;
        m_held += k_chunk;
        return true;
    }

    std::array<magazine*, k_block_classes> m_full{};
    std::array<loose_block*, k_block_classes> m_loose{};
    magazine* m_empty = nullptr;
    counts m_free{};    ///< blocks in m_full and m_loose
    counts m_carved{};  ///< blocks in existence
    chunk* m_chunks = nullptr;
    std::byte* m_next = nullptr;
    std::size_t m_room = 0;
    std::size_t m_held = 0;
    std::size_t m_caches = 0;
};

constinit block_pool g_shared_pool;
constinit std::atomic<block_permission> g_permission{nullptr};

/// Set while the thread has a block_cache. A task may change its thread between two calls, but not
/// within the functions here.
constinit thread_local block_cache* t_cache = nullptr;

std::mutex& pool_lock() noexcept { return lock_of(process_lock::blocks); }

void ask_permission() {
    const block_permission ask = g_permission.load(std::memory_order_relaxed);
    if (ask != nullptr && !ask()) {
        throw std::bad_alloc();
    }
}

void* take_fresh(block_cache::free_list& from, std::size_t which) noexcept {
    return std::exchange(from.fresh, from.fresh + bytes_of(which));
}

QUERN_COLD void* take_from_shared_pool(std::size_t which) {
    ask_permission();
    const std::scoped_lock lock(pool_lock());
    if (void* const block = g_shared_pool.take_loose(which)) {
        return block;
    }
    std::byte* const fresh = g_shared_pool.carve(which);
    if (fresh == nullptr) {
        throw std::bad_alloc();
    }
    for (std::size_t i = 1; i < k_batch; ++i) {
        g_shared_pool.give_loose(which, fresh + (k_batch - i) * bytes_of(which));
    }
    return fresh;
}

/// The list is empty: takes fresh memory of the thread, or from the shared pool.
QUERN_NOINLINE void* take_slowly(block_cache::free_list& own, std::size_t which) {
    if (own.fresh != own.fresh_end) {
        return take_fresh(own, which);
    }
    ask_permission();
    const std::scoped_lock lock(pool_lock());
    if (magazine* const full = g_shared_pool.take_full(which)) {
        std::copy(full->blocks.begin(), full->blocks.end(), own.blocks.begin());
        own.count = k_rounds;
        g_shared_pool.give_empty(*full);
        return own.blocks[--own.count];
    }
    while (own.count < k_rounds) {  // blocks freed by threads without a cache
        void* const block = g_shared_pool.take_loose(which);
        if (block == nullptr) {
            break;
        }
        own.blocks[own.count++] = block;
    }
    if (own.count != 0) {
        return own.blocks[--own.count];
    }
    std::byte* const fresh = g_shared_pool.carve(which);
    if (fresh == nullptr) {
        throw std::bad_alloc();
    }
    own.fresh = fresh;
    own.fresh_end = fresh + k_batch * bytes_of(which);
    return take_fresh(own, which);
}

/// The list is full: moves its older half to the shared pool.
QUERN_NOINLINE void give_slowly(block_cache::free_list& own, void* block,
                                std::size_t which) noexcept {
    const std::scoped_lock lock(pool_lock());
    magazine* const empty = g_shared_pool.take_empty();
    if (empty == nullptr) {
        g_shared_pool.give_loose(which, block);
        return;
    }
    std::copy_n(own.blocks.begin(), k_rounds, empty->blocks.begin());
    std::copy(own.blocks.begin() + k_rounds, own.blocks.end(), own.blocks.begin());
    g_shared_pool.give_full(which, *empty);
    own.count = block_cache::free_list::k_room - k_rounds;
    own.blocks[own.count++] = block;
}

QUERN_COLD void give_to_shared_pool(void* block, std::size_t which) noexcept {
    const std::scoped_lock lock(pool_lock());
    g_shared_pool.give_loose(which, block);
    g_shared_pool.release_if_unused();
}

/// When the library is unloaded.
[[gnu::destructor(k_after_static_objects)]] void release_memory() {
    const std::scoped_lock lock(pool_lock());
    g_shared_pool.release_if_unused();
}

}  // namespace

constinit thread_local block_cache* quern_tls_blocks = nullptr;

void* take_block(std::size_t bytes) {
    const std::size_t which = block_class(bytes);
    block_cache* const cache = t_cache;
    if (cache == nullptr) [[unlikely]] {
        return take_from_shared_pool(which);
    }
    block_cache::free_list& own = cache->lists[which];
    if (own.count == 0) [[unlikely]] {
        return take_slowly(own, which);
    }
    return own.take(bytes);
}

void give_block(void* block, std::size_t bytes) noexcept {
    if (block == nullptr) {
        return;
    }
    const std::size_t which = block_class(bytes);
    block_cache* const cache = t_cache;
    if (cache == nullptr) [[unlikely]] {
        give_to_shared_pool(block, which);
        return;
    }
    block_cache::free_list& own = cache->lists[which];
    if (own.count == block_cache::free_list::k_room) [[unlikely]] {
        give_slowly(own, block, which);
        return;
    }
    own.blocks[own.count++] = block;
}

void* allocate_block_slowly(std::size_t bytes) {
    return is_plain(bytes) ? ::operator new(bytes) : take_block(bytes);
}

void free_block_slowly(void* block, std::size_t bytes) noexcept {
    if (is_plain(bytes)) {
        ::operator delete(block);
    } else {
        give_block(block, bytes);
    }
}

block_cache::block_cache() noexcept {
    {
        const std::scoped_lock lock(pool_lock());
        g_shared_pool.add_cache();
    }
    t_cache = this;
    quern_tls_blocks = is_plain(k_block_step) ? nullptr : this;
}

block_cache::~block_cache() {
    t_cache = nullptr;
    quern_tls_blocks = nullptr;
    const std::scoped_lock lock(pool_lock());
    for (std::size_t which = 0; which < k_block_classes; ++which) {
        free_list& own = lists[which];
        while (own.count != 0) {
            g_shared_pool.give_loose(which, own.blocks[--own.count]);
        }
        while (own.fresh != own.fresh_end) {
            g_shared_pool.give_loose(which, take_fresh(own, which));
        }
    }
    g_shared_pool.remove_cache();
    g_shared_pool.release_if_unused();
}

block_totals read_block_totals() noexcept {
    const std::scoped_lock lock(pool_lock());
    return g_shared_pool.totals();
}

void set_block_permission(block_permission ask) noexcept {
    g_permission.store(ask, std::memory_order_relaxed);
}

}  // namespace quern::detail
