// SPDX-License-Identifier: BSL-1.0
// Atomic sums of the process: bytes, versions, copies.
#include "renaming/renaming_budget.hpp"

#include "run/limits.hpp"

#include <quern/dependences/detail/renamed_core.hpp>

#include <atomic>

namespace quern::detail {

namespace {

struct renaming_counts {
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::uint64_t> most_bytes{0};
    std::atomic<std::uint64_t> versions{0};
    std::atomic<std::uint64_t> copies_back{0};
};
constinit renaming_counts g_renaming;

}  // namespace

// All relaxed: only numbers; versions belong to the owner of their object.

bool reserve_renamed(std::size_t bytes) noexcept {
    const std::uint64_t limit = renaming_limit();
    std::uint64_t now = g_renaming.bytes.load(std::memory_order_relaxed);
    do {
        if (now > limit || bytes > limit - now) {
            return false;
        }
    } while (!g_renaming.bytes.compare_exchange_weak(now, now + bytes, std::memory_order_relaxed));
    now += bytes;
    std::uint64_t most = g_renaming.most_bytes.load(std::memory_order_relaxed);
    while (most < now &&
           !g_renaming.most_bytes.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
    }
    return true;
}

void return_renamed(std::size_t bytes) noexcept {
    g_renaming.bytes.fetch_sub(bytes, std::memory_order_relaxed);
}

std::uint64_t renamed_bytes() noexcept { return g_renaming.bytes.load(std::memory_order_relaxed); }

void count_version() noexcept { g_renaming.versions.fetch_add(1, std::memory_order_relaxed); }
void count_copy_back() noexcept { g_renaming.copies_back.fetch_add(1, std::memory_order_relaxed); }

renaming_totals read_renaming() noexcept {
    return {renamed_bytes(), g_renaming.most_bytes.load(std::memory_order_relaxed),
            g_renaming.versions.load(std::memory_order_relaxed),
            g_renaming.copies_back.load(std::memory_order_relaxed)};
}

}  // namespace quern::detail
