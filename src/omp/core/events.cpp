// SPDX-License-Identifier: BSL-1.0
#include "core/events.hpp"

#include "core/waiting.hpp"

namespace quern::omp {

namespace {
std::atomic<unsigned> g_lone_events{0};
}  // namespace

void add_lone_event() noexcept { g_lone_events.fetch_add(1, std::memory_order_relaxed); }
void remove_lone_event() noexcept { g_lone_events.fetch_sub(1, std::memory_order_release); }

void wait_for_lone_events(member& here) noexcept {
    if (here.of->size == 1 && g_lone_events.load(std::memory_order_relaxed) != 0) {
        wait_idly_until(here, [] { return g_lone_events.load(std::memory_order_acquire) == 0; });
    }
}

}  // namespace quern::omp
