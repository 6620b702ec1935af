// SPDX-License-Identifier: BSL-1.0
#include "core/events.hpp"

#include "core/tasks.hpp"
#include "core/waiting.hpp"
#include "tools/tools.hpp"

#include <quern/base/detail/atomics.hpp>

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

void fulfill(deferred_task& of) noexcept {
    team& where = *of.of;
    if (of.event->fetch_or(k_fulfilled, std::memory_order_acq_rel) == 0) {
        return;
    }
    member* const here = tls_member;
    if (here != nullptr && here->of == &where) {
        if (tools::is_active()) [[unlikely]] {
            tools::task_fulfilled(of);
        }
        end_deferred(*here, of);
        return;
    }
    deferred_task* before = where.fulfilled.load(std::memory_order_relaxed);
    do {
        of.argument = before;
    } while (!where.fulfilled.compare_exchange_weak(before, &of, std::memory_order_release,
                                                    std::memory_order_relaxed));
    constexpr int k_all = 1 << 30;
    detail::std_atomics::futex_wake(where.epoch, k_all);
}

void end_fulfilled(member& here) noexcept {
    deferred_task* each = here.of->fulfilled.exchange(nullptr, std::memory_order_acquire);
    while (each != nullptr) {
        auto* const next = static_cast<deferred_task*>(each->argument);
        if (tools::is_active()) [[unlikely]] {
            tools::task_fulfilled(*each);
        }
        end_deferred(here, *each);
        each = next;
    }
}

}  // namespace quern::omp
