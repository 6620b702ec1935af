// SPDX-License-Identifier: BSL-1.0
// Slabs, guards and the process-wide free lists of stacks.
#include <quern/context/stack_memory.hpp>

#include <quern/base/detail/assert.hpp>
#include <quern/base/detail/process.hpp>
#include <quern/context/detail/sanitizer.hpp>

#include <sys/mman.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

namespace quern::detail {

namespace {

/// The unit of guards: 4 KiB on x86-64, up to 64 KiB on aarch64.
std::size_t page_bytes() noexcept { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }
constexpr int k_madv_guard_install = 102;  // <linux/mman.h> since 6.13
constexpr std::size_t k_canary_bytes = 64;
constexpr unsigned char k_canary = 0xA5;
constexpr std::size_t k_slab_target = 16U
                                      << 20;  // bytes of address space mapped at a time (guessed)
constexpr int k_mapping_divisor = 4;          // at most a quarter of the mappings for guards

/// Bytes from the guard page to the block.
constexpr std::size_t stack_and_reserve(stack_class size) noexcept {
    return stack_bytes(size) + stack_reserve(size);
}

constexpr std::size_t span_bytes(stack_class size) noexcept {
    return stack_and_reserve(size) + k_block;
}

long mapping_limit() {
    long limit = 65530;  // the kernel's default
    if (std::FILE* file = std::fopen("/proc/sys/vm/max_map_count", "re")) {
        if (std::fscanf(file, "%ld", &limit) != 1) {
            limit = 65530;
        }
        std::fclose(file);
    }
    return limit;
}

bool page_guards_work() {
    void* probe =
        ::mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (probe == MAP_FAILED) {
        return false;
    }
    const bool works = ::madvise(probe, page_bytes(), k_madv_guard_install) == 0;
    ::munmap(probe, page_bytes());
    return works;
}

void* map_memory(std::size_t bytes) noexcept {
    return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
}

/// The process-wide store of stacks.
class stack_store {
public:
    constexpr stack_store() = default;

    stack_span take(stack_class size) {
        const std::scoped_lock lock(lock_of(process_lock::stacks));
        auto& list = m_free[static_cast<std::size_t>(size)];
        if (list.empty()) {
            map_slab(size, list);
        }
        const stack_span span = list.back();
        list.pop_back();
        ++m_taken;
        return span;
    }

    void give(const stack_span& span) noexcept {
        const std::scoped_lock lock(lock_of(process_lock::stacks));
        check_canary(span);
        m_free[static_cast<std::size_t>(span.size)].push_back(span);
        --m_taken;
    }

    /// Returns all memory to the system, unless a stack is in use.
    void forget() {
        const std::scoped_lock lock(lock_of(process_lock::stacks));
        if (m_taken != 0) {
            return;
        }
        for (const slab& each : m_slabs) {
            sanitizer_forget_frames(each.start, each.bytes);
            ::munmap(each.start, each.bytes);
        }
        m_slabs = std::vector<slab>();  // clear() would keep the capacity
        m_free = {};
        m_cut = {};
    }

    stack_guard guard() {
        const std::scoped_lock lock(lock_of(process_lock::stacks));
        choose_guard();
        return m_guard;
    }
    std::size_t mapped() const noexcept { return m_mapped.load(std::memory_order_relaxed); }

private:
    struct slab {
        void* start = nullptr;
        std::size_t bytes = 0;
    };

    void choose_guard() {
        if (m_mappings_left < 0) {
            m_mappings_left = mapping_limit() / k_mapping_divisor;
            m_guard = page_guards_work() ? stack_guard::page : stack_guard::mapping;
        }
    }

    void map_slab(stack_class size, std::vector<stack_span>& list) {
        choose_guard();
        const std::size_t bytes = span_bytes(size);
        std::size_t count = std::max<std::size_t>(1, k_slab_target / bytes);
        std::size_t& cut_so_far = m_cut[static_cast<std::size_t>(size)];
        list.reserve(cut_so_far + count);  // for all of them: give() must not allocate
        m_slabs.emplace_back();
        void* start = map_memory(count * bytes + k_block);
        for (; start == MAP_FAILED && count > 1; start = map_memory(count * bytes + k_block)) {
            count /= 2;  // little address space is left (ulimit -v): a few stacks may fit
        }
        if (start == MAP_FAILED) {
            m_slabs.pop_back();
            throw std::bad_alloc();
        }
        m_slabs.back() = {start, count * bytes + k_block};
        const auto address = reinterpret_cast<std::uintptr_t>(start);
        char* first = static_cast<char*>(start) + ((k_block - address % k_block) % k_block);
        for (std::size_t i = count; i-- > 0;) {  // the lowest addresses are handed out first
            list.push_back(cut(first + i * bytes, size));
        }
        cut_so_far += count;
        m_mapped.fetch_add(count, std::memory_order_relaxed);
    }

    stack_span cut(char* start, stack_class size) {
        char* block = start + stack_and_reserve(size);
        stack_span span{start + page_bytes(), block + k_room_offset, block + k_room_offset, size};
        install_guard(start, span);
        return span;
    }

    void install_guard(char* page, const stack_span& span) {
        if (m_guard == stack_guard::page &&
            ::madvise(page, page_bytes(), k_madv_guard_install) == 0) {
            return;
        }
        if (m_mappings_left >= 2 && ::mprotect(page, page_bytes(), PROT_NONE) == 0) {
            m_mappings_left -= 2;  // the guard itself, and the split of one mapping
            return;
        }
        m_guard = stack_guard::canary;
        std::memset(span.low - k_canary_bytes, k_canary, k_canary_bytes);
    }

    /// Requires: the lock is held.
    void check_canary(const stack_span& span) const {
        if (m_guard != stack_guard::canary) {
            return;
        }
        unsigned char seen = 0;  // guarded spans are unreadable there: ask the kernel first
        if (::mincore(span.low - page_bytes(), page_bytes(), &seen) != 0 || (seen & 1U) == 0) {
            return;
        }
        for (std::size_t i = 1; i <= k_canary_bytes; ++i) {
            QUERN_ASSERT(static_cast<unsigned char>(*(span.low - i)) == k_canary,
                         "a task overflowed its stack (no guard page was available)");
        }
    }

    /// Invariant: each has capacity for all stacks of its class.
    std::array<std::vector<stack_span>, k_stack_class_count> m_free{};
    std::array<std::size_t, k_stack_class_count> m_cut{};  ///< stacks in existence
    std::vector<slab> m_slabs{};
    std::size_t m_taken = 0;
    stack_guard m_guard = stack_guard::mapping;
    std::atomic<std::size_t> m_mapped{0};
    long m_mappings_left = -1;  ///< -1: unknown yet
};

/// Not destroyed with the static objects: runtimes may end, and even start, while those are being
/// destroyed.
union immortal_store {
    constexpr immortal_store() : value() {}
    ~immortal_store() {}
    stack_store value;
};
constinit immortal_store g_memory;

[[gnu::destructor(k_after_static_objects)]] void forget_stacks() { g_memory.value.forget(); }

}  // namespace

std::string_view to_string(stack_guard guard) noexcept {
    constexpr std::string_view names[] = {"page", "mapping", "canary"};
    return names[static_cast<std::size_t>(guard)];
}

stack_span allocate_stack(stack_class size) { return g_memory.value.take(size); }
void release_stack(const stack_span& span) noexcept { g_memory.value.give(span); }
bool is_in_guard(const stack_span& span, const void* address) noexcept {
    const auto* const at = static_cast<const char*>(address);
    return at < span.low && at >= span.low - page_bytes();
}

stack_guard current_stack_guard() noexcept { return g_memory.value.guard(); }
std::size_t stacks_mapped() noexcept { return g_memory.value.mapped(); }

}  // namespace quern::detail
