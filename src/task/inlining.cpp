// SPDX-License-Identifier: BSL-1.0
// Running a child task at once, beside its parent.
#include <quern/task/detail/inlining.hpp>

#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/worker.hpp>

namespace quern::detail {

constinit std::atomic<const inlining_rules*> g_inlining_rules{nullptr};
constinit std::atomic<bool> g_decides_always{false};

void install_inlining(const inlining_rules* rules, bool always) noexcept {
    g_inlining_rules.store(rules, std::memory_order_release);  // pairs with kind_of_child
    g_decides_always.store(rules != nullptr && always, std::memory_order_relaxed);
}

/// A child that is hinted elsewhere, or has a place before or behind others, is queued. So is a
/// child of code that is not part of an item, as of a poller.
bool begins_in_parent(worker& here, runnable& child, child_kind kind) noexcept {
    const inlining_rules* const rules = g_inlining_rules.load(std::memory_order_acquire);
    if (rules == nullptr || child.is_hinted() || child.has_place() ||
        here.stats().phase() != worker_phase::running || !may_step_aside() ||
        !rules->inlines(here, kind)) {
        return false;
    }
    creator_link link;
    link.more = [](creator_link&) noexcept -> runnable* { return nullptr; };
    run_beside_self(child, link);
    if (!link.is_over) [[unlikely]] {
        rules->has_left(kind, link.waits_for_task);
    }
    return true;
}

void child_timing::report(child_kind kind, tick_count begun) noexcept {
    if (const inlining_rules* const rules = g_inlining_rules.load(std::memory_order_acquire)) {
        rules->took(kind, ticks() - begun);
    }
}

}  // namespace quern::detail
