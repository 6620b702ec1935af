// SPDX-License-Identifier: BSL-1.0
#include "core/memory.hpp"

#include <quern/base/detail/config.hpp>
#include <quern/base/detail/spin_lock.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include <sys/mman.h>

namespace quern::arrays::detail {

namespace {

constexpr std::size_t k_alignment = 64;

/// Says how much was asked for, without memory of its own.
class no_memory final : public std::bad_alloc {
public:
    explicit no_memory(std::size_t bytes) noexcept {
        std::snprintf(m_text.data(), m_text.size(), "no memory for an array of %zu bytes", bytes);
    }
    const char* what() const noexcept override { return m_text.data(); }

private:
    std::array<char, 64> m_text{};
};

struct block {
    std::byte* base = nullptr;
    std::size_t offset = 0;  ///< of what an array gets
    std::size_t bytes = 0;   ///< from there on
};

/// With the address sanitizer a block that is used after its end must be seen.
constexpr bool k_keeps_blocks = QUERN_ASAN == 0;

bool is_kept_size(std::size_t bytes) noexcept {
    return k_keeps_blocks && bytes >= k_least_kept && bytes <= k_most_kept;
}

void free_block(const block& of) noexcept {
    ::operator delete(of.base, std::align_val_t(k_alignment));
}

/// Freed blocks, the oldest first.
class kept_blocks {
public:
    /// A block of at least so many bytes and at most a quarter more; the latest, whose data may be
    /// in a cache. Null if there is none.
    block take(std::size_t bytes) noexcept {
        const std::scoped_lock guard(m_lock);
        for (std::size_t i = m_count; i-- > 0;) {
            if (m_blocks[i].bytes < bytes || m_blocks[i].bytes > bytes + bytes / 4) continue;
            return remove(i);
        }
        return {};
    }

    void give(block freed) noexcept {
        std::array<block, k_most> gone;
        std::size_t count = 0;
        {
            const std::scoped_lock guard(m_lock);
            while (m_count == k_most || m_bytes + freed.bytes > k_most_kept_bytes) {
                gone[count++] = remove(0);
            }
            m_blocks[m_count++] = freed;
            m_bytes += freed.bytes;
        }
        std::for_each_n(gone.begin(), count, free_block);
    }

    std::size_t bytes() noexcept {
        const std::scoped_lock guard(m_lock);
        return m_bytes;
    }

private:
    static constexpr std::size_t k_most = 32;

    block remove(std::size_t which) noexcept {
        const block removed = m_blocks[which];
        std::copy(m_blocks.begin() + which + 1, m_blocks.begin() + m_count,
                  m_blocks.begin() + which);
        --m_count;
        m_bytes -= removed.bytes;
        return removed;
    }

    quern::detail::spin_lock m_lock{};
    std::array<block, k_most> m_blocks{};
    std::size_t m_count = 0;
    std::size_t m_bytes = 0;
};

/// Never destroyed: arrays of static storage end late.
kept_blocks& kept() noexcept {
    alignas(kept_blocks) static std::byte memory[sizeof(kept_blocks)];
    static auto* const the_one = new (memory) kept_blocks();
    return *the_one;
}

/// Asks for large pages, as NumPy does: touching new memory of many pages costs more than what is
/// computed there.
void prefer_large_pages(const block& of) noexcept {
    constexpr std::size_t k_worthwhile = std::size_t{4} << 20;
    constexpr std::size_t k_page = 4096;
    if (of.bytes < k_worthwhile) return;
    const std::size_t skipped = k_page - reinterpret_cast<std::uintptr_t>(of.base) % k_page;
    ::madvise(of.base + skipped, of.bytes - skipped, MADV_HUGEPAGE);
}

/// Large blocks begin at different places in a page: a loop over arrays that have the lowest twelve
/// bits of their addresses in common waits for its own stores.
std::size_t next_offset() noexcept {
    constexpr std::size_t k_lines = 64;
    constexpr std::size_t k_steps = 29;  // odd, and neighbours are far apart
    static std::atomic<std::size_t> count{0};
    return count.fetch_add(k_steps, std::memory_order_relaxed) % k_lines * k_alignment;
}

block new_block(std::size_t bytes) {
    const std::size_t offset = is_kept_size(bytes) ? next_offset() : 0;
    void* const base = ::operator new(offset + bytes, std::align_val_t(k_alignment), std::nothrow);
    if (base == nullptr) throw_no_memory(bytes);
    const block made{static_cast<std::byte*>(base), offset, bytes};
    prefer_large_pages(made);
    return made;
}

struct end_of_block {
    block freed;
    void operator()(void*) const noexcept {
        is_kept_size(freed.bytes) ? kept().give(freed) : free_block(freed);
    }
};

/// Memory for an object, here what a shared_ptr counts with, and for an array's elements behind it.
/// malloc's free lists serve it in some 20 ns; two blocks, one of them aligned, take 150 ns.
template <class T>
class with_elements {
public:
    using value_type = T;

    with_elements(std::size_t bytes, void*& elements) noexcept
        : m_bytes(bytes), m_elements(&elements) {}
    template <class U>
    explicit with_elements(const with_elements<U>& other) noexcept
        : m_bytes(other.m_bytes), m_elements(other.m_elements) {}

    T* allocate(std::size_t count) {
        const std::size_t own = count * sizeof(T);
        std::size_t room = m_bytes + k_alignment - 1;
        void* const memory = std::malloc(own + room);
        if (memory == nullptr) throw_no_memory(m_bytes);
        *m_elements = static_cast<std::byte*>(memory) + own;
        std::align(k_alignment, m_bytes, *m_elements, room);
        return static_cast<T*>(memory);
    }
    /// Called on a copy, when `elements` is long gone.
    void deallocate(T* memory, std::size_t) noexcept { std::free(memory); }

    template <class U>
    bool operator==(const with_elements<U>&) const noexcept {
        return true;
    }

private:
    template <class>
    friend class with_elements;

    std::size_t m_bytes;
    void** m_elements;
};

struct no_header {};

std::shared_ptr<void> small_memory(std::size_t bytes) {
    void* elements = nullptr;
    auto counted = std::allocate_shared<no_header>(with_elements<no_header>(bytes, elements));
    return {std::move(counted), elements};
}

/// malloc takes blocks of up to 1 KiB from free lists of the thread.
constexpr std::size_t k_small = 896;

}  // namespace

void throw_no_memory(std::size_t bytes) { throw no_memory(bytes); }

std::shared_ptr<void> make_memory(std::size_t bytes) {
    if (k_keeps_blocks && bytes <= k_small) return small_memory(std::max(bytes, std::size_t{1}));
    block made = is_kept_size(bytes) ? kept().take(bytes) : block{};
    if (made.base == nullptr) made = new_block(std::max(bytes, std::size_t{1}));
    return {made.base + made.offset, end_of_block{made}};
}

std::size_t kept_bytes() noexcept { return kept().bytes(); }

}  // namespace quern::arrays::detail
