// SPDX-License-Identifier: BSL-1.0
// The process-wide locks and the handlers around fork().
#include <quern/base/detail/process.hpp>

#include <pthread.h>
#include <array>
#include <cstddef>

namespace quern::detail {

constinit std::atomic<unsigned> process_generation{0};

namespace {

constinit std::array<std::mutex, k_process_locks> g_locks{};

void take_all() noexcept {
    for (std::mutex& lock : g_locks) {
        lock.lock();
    }
}

void release_all() noexcept {
    for (auto lock = g_locks.rbegin(); lock != g_locks.rend(); ++lock) {
        lock->unlock();
    }
}

/// Only the calling thread exists in the child, so no thread reads the number meanwhile.
void begin_child() noexcept {
    process_generation.store(fork_generation() + 1, std::memory_order_relaxed);
    release_all();
}

/// Registered when the library is loaded: the handlers of a plug-in are unregistered with it.
[[maybe_unused]] const int k_registered = ::pthread_atfork(take_all, release_all, begin_child);

}  // namespace

std::mutex& lock_of(process_lock which) noexcept {
    return g_locks[static_cast<std::size_t>(which)];
}

}  // namespace quern::detail
