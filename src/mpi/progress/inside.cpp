// SPDX-License-Identifier: BSL-1.0
// Records the holder of the entrance, and ends the process if a callback throws.
#include "progress/inside.hpp"

#include "progress/engine.hpp"

#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/sync/detail/waiting.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace quern::mpi::detail {

namespace {

constexpr auto k_relaxed = std::memory_order_relaxed;

/// Written only by the holder of the entrance. A caller that reads its own identity here has
/// written it, so relaxed is enough.
constinit std::atomic<std::uintptr_t> g_holder{0};
constinit std::atomic<std::uint64_t> g_turn{0};
constinit std::atomic<const char*> g_call{nullptr};

constinit thread_local int t_beside = 0;

/// Of its own, so that no caller keeps the address of thread-local memory across a suspension.
[[gnu::noinline]] int& depth_beside() noexcept {
    quern::detail::compiler_barrier();
    return t_beside;
}

[[noreturn]] void fail(const char* call, const char* what) noexcept {
    std::fprintf(
        stderr, "quern: a function that MPI has called in %s has thrown: %s; MPI cannot continue\n",
        engine::of_process().describe_inside(call).c_str(), what);
    std::abort();
}

}  // namespace

inside_mpi::inside_mpi(const char* call) noexcept {
    g_turn.store(g_turn.load(k_relaxed) + 1, k_relaxed);
    g_call.store(call, k_relaxed);
    g_holder.store(quern::detail::this_holder(), k_relaxed);
    quern::detail::context* const here = quern::detail::current_context();
    if (here != nullptr && here->root().pin == nullptr && !this_worker(*here).has_guest()) {
        m_pinned = &here->root();
        m_pinned->pin = &here->host();
    }
}

inside_mpi::~inside_mpi() {
    if (m_pinned != nullptr) {
        m_pinned->pin = nullptr;
    }
    g_holder.store(0, k_relaxed);
}

beside_mpi::beside_mpi() noexcept { ++depth_beside(); }
beside_mpi::~beside_mpi() { --depth_beside(); }

bool is_within_mpi() noexcept { return g_holder.load(k_relaxed) == quern::detail::this_holder(); }
bool is_within_call_beside() noexcept { return depth_beside() != 0; }

inside_now look_inside() noexcept {
    return {g_holder.load(k_relaxed), g_turn.load(k_relaxed), g_call.load(k_relaxed)};
}

void run_inside(const char* call, quern::detail::function_ref<void()> f) noexcept {
    const inside_mpi here(call);
    run_guarded(call, f);
}

void run_guarded(const char* call, quern::detail::function_ref<void()> f) noexcept {
    try {
        f();
    } catch (const std::exception& e) {
        fail(call, e.what());
    } catch (...) {
        fail(call, "an exception that is no std::exception");
    }
}

}  // namespace quern::mpi::detail
