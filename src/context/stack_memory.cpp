// SPDX-License-Identifier: BSL-1.0
// Slabs, guards and the process-wide free lists of stacks.
#include <quern/context/stack_memory.hpp>

#include <quern/base/assert.hpp>

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
std::size_t page_bytes() noexcept {
    static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
}
constexpr int k_madv_guard_install = 102;  // <linux/mman.h> since 6.13
constexpr std::size_t k_canary_bytes = 64;
constexpr unsigned char k_canary = 0xA5;
constexpr std::size_t k_slab_target = 16U << 20;  // bytes of address space mapped at once (guessed)
constexpr int k_mapping_divisor = 4;              // at most a quarter of the mappings for guards

constexpr std::size_t span_bytes(stack_class size) noexcept { return stack_bytes(size) + k_block; }

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

/// Everything the process knows about its stacks. Never destroyed: workers may outlive main.
class stack_store {
public:
    static stack_store& instance() {
        static auto* store = new stack_store;
        return *store;
    }

    stack_span take(stack_class size) {
        const std::scoped_lock lock(m_mutex);
        auto& list = m_free[static_cast<std::size_t>(size)];
        if (list.empty()) {
            map_slab(size, list);
        }
        const stack_span span = list.back();
        list.pop_back();
        return span;
    }

    void give(const stack_span& span) {
        check_canary(span);
        const std::scoped_lock lock(m_mutex);
        m_free[static_cast<std::size_t>(span.size)].push_back(span);
    }

    stack_guard guard() const noexcept { return m_guard.load(std::memory_order_relaxed); }
    std::size_t mapped() const noexcept { return m_mapped.load(std::memory_order_relaxed); }

private:
    stack_store() : m_mappings_left(mapping_limit() / k_mapping_divisor) {
        m_guard = page_guards_work() ? stack_guard::page : stack_guard::mapping;
    }

    void map_slab(stack_class size, std::vector<stack_span>& list) {
        const std::size_t bytes = span_bytes(size);
        const std::size_t count = std::max<std::size_t>(1, k_slab_target / bytes);
        list.reserve(list.size() + count);
        void* slab = ::mmap(nullptr, count * bytes + k_block, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (slab == MAP_FAILED) {
            throw std::bad_alloc();
        }
        const auto address = reinterpret_cast<std::uintptr_t>(slab);
        char* first = static_cast<char*>(slab) + ((k_block - address % k_block) % k_block);
        for (std::size_t i = count; i-- > 0;) {  // the lowest addresses are handed out first
            list.push_back(cut(first + i * bytes, size));
        }
        m_mapped.fetch_add(count, std::memory_order_relaxed);
    }

    stack_span cut(char* start, stack_class size) {
        char* block = start + stack_bytes(size);
        stack_span span{start + page_bytes(), block + k_room_offset, block + k_room_offset, size};
        install_guard(start, span);
        return span;
    }

    void install_guard(char* page, const stack_span& span) {
        if (guard() == stack_guard::page &&
            ::madvise(page, page_bytes(), k_madv_guard_install) == 0) {
            return;
        }
        if (m_mappings_left >= 2 && ::mprotect(page, page_bytes(), PROT_NONE) == 0) {
            m_mappings_left -= 2;  // the guard itself, and the split of what was one mapping
            return;
        }
        m_guard.store(stack_guard::canary, std::memory_order_relaxed);
        std::memset(span.low - k_canary_bytes, k_canary, k_canary_bytes);
    }

    void check_canary(const stack_span& span) const {
        if (guard() != stack_guard::canary) {
            return;
        }
        unsigned char seen = 0;  // guarded spans cannot be read there: ask the kernel first
        if (::mincore(span.low - page_bytes(), page_bytes(), &seen) != 0 || (seen & 1U) == 0) {
            return;
        }
        for (std::size_t i = 1; i <= k_canary_bytes; ++i) {
            QUERN_ASSERT(static_cast<unsigned char>(*(span.low - i)) == k_canary,
                         "a task overflowed its stack (no guard page was available)");
        }
    }

    std::mutex m_mutex;
    std::array<std::vector<stack_span>, k_stack_class_count> m_free;
    std::atomic<stack_guard> m_guard{stack_guard::mapping};
    std::atomic<std::size_t> m_mapped{0};
    long m_mappings_left;
};

}  // namespace

std::string_view to_string(stack_guard guard) noexcept {
    constexpr std::string_view names[] = {"page", "mapping", "canary"};
    return names[static_cast<std::size_t>(guard)];
}

stack_span allocate_stack(stack_class size) { return stack_store::instance().take(size); }
void release_stack(const stack_span& span) noexcept { stack_store::instance().give(span); }
bool is_in_guard(const stack_span& span, const void* address) noexcept {
    const auto* const at = static_cast<const char*>(address);
    return at < span.low && at >= span.low - page_bytes();
}

stack_guard current_stack_guard() noexcept { return stack_store::instance().guard(); }
std::size_t stacks_mapped() noexcept { return stack_store::instance().mapped(); }

}  // namespace quern::detail
