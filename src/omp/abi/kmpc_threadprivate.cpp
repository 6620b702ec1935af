// SPDX-License-Identifier: BSL-1.0
// clang's entry points for threadprivate variables without thread-local storage.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "abi/kmpc.hpp"
#include "core/settings.hpp"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include <unistd.h>

using namespace quern::omp;

namespace {

struct private_kind {
    void* (*construct)(void*) = nullptr;
    void (*destroy)(void*) = nullptr;
};

struct private_kinds {
    std::mutex lock;
    std::unordered_map<void*, private_kind> known;
};

private_kinds& the_private_kinds() {
    static auto* const all = new private_kinds;  // outlives exit()
    return *all;
}

private_kind kind_of(void* variable) {
    private_kinds& all = the_private_kinds();
    const std::lock_guard<std::mutex> held(all.lock);
    const auto at = all.known.find(variable);
    return at != all.known.end() ? at->second : private_kind{};
}

/// The copies of a thread; the first thread of the process has the variables themselves.
class private_copies {
public:
    private_copies() = default;
    private_copies(const private_copies&) = delete;
    private_copies& operator=(const private_copies&) = delete;
    ~private_copies() {
        for (const auto& [variable, copy] : m_all) {
            if (const private_kind kind = kind_of(variable); kind.destroy != nullptr) {
                kind.destroy(copy);
            }
            std::free(copy);
        }
    }
    void* of(void* variable, std::size_t size) {
        void*& copy = m_all[variable];
        if (copy == nullptr) {
            // As libomp aligns it: the compiled code does not say how.
            constexpr std::size_t k_alignment = 64;
            copy = std::aligned_alloc(k_alignment, (size / k_alignment + 1) * k_alignment);
            if (copy == nullptr) {
                fatal("no memory for %zu bytes of a threadprivate variable", size);
            }
            const private_kind kind = kind_of(variable);
            if (kind.construct != nullptr) {
                kind.construct(copy);
            } else {
                std::memcpy(copy, variable, size);
            }
        }
        return copy;
    }

private:
    std::unordered_map<void*, void*> m_all;
};

}  // namespace

QUERN_OMP_ENTRY void __kmpc_threadprivate_register(kmpc_place*, void* variable,
                                                   void* (*construct)(void*),
                                                   void* (*)(void*, void*),
                                                   void (*destroy)(void*)) {
    private_kinds& all = the_private_kinds();
    const std::lock_guard<std::mutex> held(all.lock);
    all.known[variable] = {construct, destroy};
}

QUERN_OMP_ENTRY void* __kmpc_threadprivate_cached(kmpc_place*, std::int32_t, void* variable,
                                                  std::size_t size, void***) {
    if (::getpid() == ::gettid()) {
        return variable;
    }
    thread_local private_copies own;
    return own.of(variable, size);
}

// NOLINTEND(readability-identifier-naming)
