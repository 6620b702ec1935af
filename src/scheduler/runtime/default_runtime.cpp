// SPDX-License-Identifier: BSL-1.0
// The default runtime: how it is adopted or started, and how it ends. The difficult part is the end
// of an adopted one: other threads may have read the default pool and be about to use it.
//
// The word g_pool holds the pool and a mark. A thread other than the maker sets the mark before it
// uses the pool. The maker clears the word before it ends the runtime. Both are read-modify-writes
// of one word, so either the maker sees the mark and the pools are kept, or the other thread finds
// no pool. The maker itself needs no mark: it does not use a runtime that it ends.
#include "runtime/default_runtime.hpp"

#include "runtime/observer_list.hpp"

#include <quern/base/detail/process.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/process_registry.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <new>
#include <string>
#include <utility>

// The registration of destructors of static objects (Itanium C++ ABI, section 3.3.6). std::atexit
// would do, but the sanitizers' version does not record which plug-in called it.
extern "C" {
int __cxa_atexit(void (*function)(void*), void* argument, void* library);  // NOLINT: ABI's names
[[gnu::visibility("hidden")]] extern void* __dso_handle;                   // NOLINT
}

namespace quern::detail {

namespace {

constexpr std::uintptr_t k_shared = 1;  // the mark

/// Its first pool, or 0.
constinit std::atomic<std::uintptr_t> g_pool{0};
/// The thread that made it, from this_thread_outside(); 0 when it was started.
constinit std::atomic<std::uintptr_t> g_maker{0};

// The following are guarded by the lock default_runtime.
constinit runtime* g_present = nullptr;
constinit runtime* g_started = nullptr;  ///< set even when it is no longer the default
constinit runtime* g_kept = nullptr;     ///< holds pools that other threads may still use
constinit bool g_adopts = true;          ///< false once pools had to be kept

std::mutex& default_lock() noexcept { return lock_of(process_lock::default_runtime); }

pool* pool_in(std::uintptr_t word) noexcept { return reinterpret_cast<pool*>(word & ~k_shared); }

/// Whether the caller stops using the pool before its maker ends it: the caller is the maker, or a
/// task.
bool needs_no_mark(std::uintptr_t word) noexcept {
    const context* const task = task_root();
    return task != nullptr ? &task->host().home() == pool_in(word)
                           : g_maker.load(std::memory_order_relaxed) == this_thread_outside();
}

/// The pool, which the caller may use from now on; null if this process has none.
pool* share_present() noexcept {
    std::uintptr_t word = g_pool.load(std::memory_order_acquire);  // pairs with publish
    while (word != 0) {
        // acq_rel: pairs with publish and take_away.
        if ((word & k_shared) != 0 || needs_no_mark(word) ||
            g_pool.compare_exchange_weak(word, word | k_shared, std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
            return pool_in(word)->inherited() ? nullptr : pool_in(word);
        }
    }
    return nullptr;
}

void publish(runtime& present, std::uintptr_t maker, std::uintptr_t mark) {
    g_present = &present;
    g_maker.store(maker, std::memory_order_relaxed);
    pool& first = present.default_pool().get();
    g_pool.store(reinterpret_cast<std::uintptr_t>(&first) | mark,
                 std::memory_order_release);  // pairs with share_present
}

void at_end(void (*end)(void*)) {
    if (__cxa_atexit(end, nullptr, &__dso_handle) != 0) {
        throw std::bad_alloc();
    }
}

/// Has nothing to do. Its workers may just have begun and not sleep yet.
bool is_idle(pool& p) noexcept {
    return p.quiet() || (p.activations() == 0 && !p.has_shared_work());
}

/// Warns of a program's own runtime that is idle while another one is started. It is usually a
/// mistake, and otherwise shows only as a slow program.
void warn_of_idle_ones() noexcept {
    const process_registry& all = process_registry::of_process();
    const std::scoped_lock guard(process_registry::lock());
    for (pool_entry* p = all.pools.front(); p != nullptr; p = all.pools.after(*p)) {
        pool& each = p->which;
        if (!each.inherited() && !each.is_kept() && is_idle(each)) {
            std::fprintf(stderr,
                         "quern: the default runtime is started, for what is called outside of any "
                         "task, beside an idle runtime of the program's own (pool '%s', workers: "
                         "%u). A runtime becomes the default one if it is made while there is "
                         "none; else name it: quern::async(rt, ...)\n",
                         each.name().c_str(), each.size());
            return;
        }
    }
}

}  // namespace

/// Requires: the lock is held.
bool default_runtime::is_there() noexcept {
    const std::uintptr_t word = g_pool.load(std::memory_order_relaxed);
    return word != 0 && !pool_in(word)->inherited();
}

void default_runtime::adopt(runtime& made) noexcept {
    const std::scoped_lock lock(default_lock());
    if (g_adopts && !is_there()) {
        publish(made, this_thread_outside(), 0);
    }
}

bool default_runtime::withdraw(const runtime& ending) noexcept {
    const std::scoped_lock lock(default_lock());
    if (g_present != &ending) {
        return false;
    }
    g_present = nullptr;
    const bool inherited = ending.m_pools.front()->inherited();
    if (!inherited && ending.cannot_end_here()) {
        g_pool.fetch_or(k_shared, std::memory_order_relaxed);  // its workers keep running until the
                                                               // process ends
        return false;
    }
    const std::uintptr_t word =
        g_pool.exchange(0, std::memory_order_acq_rel);  // with share_present
    const bool is_shared = (word & k_shared) != 0 && !inherited && &ending != g_started;
    g_adopts = g_adopts && !is_shared;
    return is_shared;
}

void default_runtime::keep(std::vector<std::unique_ptr<pool>>& pools) noexcept try {
    const std::scoped_lock lock(default_lock());
    for (const auto& each : pools) {
        each->set_kept();
    }
    std::unique_ptr<runtime> holder(new runtime(runtime::as_holder(), std::move(pools)));
    g_kept = holder.release();  // the first and last one: g_adopts is false
    at_end([](void*) { end_kept(); });
} catch (const std::bad_alloc&) {
    runtime::abandon(pools);
}

pool& default_runtime::first_pool() {
    pool* present = share_present();
    while (present == nullptr) {
        start();
        present = share_present();
    }
    return *present;
}

runtime& default_runtime::instance() {
    for (;;) {
        first_pool();
        const std::scoped_lock lock(default_lock());
        if (g_present != nullptr && is_there()) {
            return *g_present;
        }
        if (is_there()) {  // its own task has called exit(), and its object is destroyed
            g_pool.store(0, std::memory_order_relaxed);
        }
    }
}

void default_runtime::start() {
    const std::scoped_lock lock(default_lock());
    if (is_there()) {
        return;
    }
    warn_of_idle_ones();
    std::unique_ptr<runtime> made(new runtime(runtime::as_default()));
    at_end([](void*) { end_started(); });
    g_started = made.release();
    publish(*g_started, 0, k_shared);
}

/// Called like the destructor of a static object: when the program ends, or the plug-in that
/// contains Quern is unloaded. Withdrawn first, so that static objects that end later get another
/// one.
void default_runtime::end_started() noexcept {
    runtime* const ended = g_started;
    if (ended == nullptr) {
        return;
    }
    if (!ended->cannot_end_here()) {
        delete ended;
        g_started = nullptr;
    } else if (!ended->m_pools.front()->inherited()) {
        tell_ends(*ended);  // one of its own tasks has called exit()
    }
}

void default_runtime::end_kept() noexcept { delete std::exchange(g_kept, nullptr); }

}  // namespace quern::detail
