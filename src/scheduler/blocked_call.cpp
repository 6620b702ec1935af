// SPDX-License-Identifier: BSL-1.0
#include <quern/scheduler/detail/blocked_call.hpp>

#include <atomic>

namespace quern::detail {

namespace {

constinit std::atomic<const busy_threads*> g_busy_threads{nullptr};
constinit std::atomic<void (*)() noexcept> g_begin{nullptr};
constinit std::atomic<bool> g_has_begun{false};

}  // namespace

void have_busy_threads(const busy_threads& how) noexcept {
    g_busy_threads.store(&how, std::memory_order_release);  // pairs with is_busy_thread
}

void have_blocked_calls(void (*begin)() noexcept) noexcept {
    g_begin.store(begin, std::memory_order_release);  // pairs with begin_blocked_calls
}

bool begin_blocked_calls() noexcept {
    void (*const begin)() noexcept = g_begin.load(std::memory_order_acquire);
    if (begin == nullptr) {
        return false;
    }
    if (!g_has_begun.exchange(true, std::memory_order_acq_rel)) {
        begin();
    }
    return true;
}

bool is_busy_thread() noexcept {
    const busy_threads* const how = g_busy_threads.load(std::memory_order_acquire);
    return how != nullptr && how->is_one();
}

bool run_meanwhile(const blocked_call& call) noexcept {
    const busy_threads* const how = g_busy_threads.load(std::memory_order_acquire);
    return how != nullptr && how->run(call);
}

}  // namespace quern::detail
