// SPDX-License-Identifier: BSL-1.0
// Cancellation. Protocol: ../README.md.
#include "core/cancellation.hpp"

#include "core/waiting.hpp"

namespace quern::omp {

namespace {

bool group_is_cancelled(const task_group* group) noexcept {
    if (group == nullptr) {
        return false;
    }
    if (group->is_cancelled.load(std::memory_order_acquire)) {
        return true;
    }
    return group->is_of_construct && group->outer != nullptr &&
           group->outer->is_cancelled.load(std::memory_order_acquire);
}

bool region_is_cancelled(const team& of) noexcept {
    return of.is_cancelled.load(std::memory_order_acquire);
}

void wait_for_own_tasks(member& here) noexcept {
    if (!here.implicit.is_alone()) {
        wait_until(here, eligible::all, k_tasks_wait, [&here] { return here.implicit.is_alone(); });
    }
}

}  // namespace

bool is_cancelled(const member& here, cancelled_part what) noexcept {
    if (!cancellation_is_on()) {
        return false;
    }
    const team& of = *here.of;
    switch (what) {
        case cancelled_part::work:
            return of.work_is_cancelled.load(std::memory_order_acquire);
        case cancelled_part::group:
            return group_is_cancelled(here.current->group) || region_is_cancelled(of);
        case cancelled_part::region:
            break;
    }
    return region_is_cancelled(of);
}

bool cancel(member& here, cancelled_part what) noexcept {
    if (!cancellation_is_on()) {
        return false;
    }
    team& of = *here.of;
    switch (what) {
        case cancelled_part::work:
            of.work_is_cancelled.store(true, std::memory_order_seq_cst);
            break;
        case cancelled_part::group:
            if (task_group* group = here.current->group) {
                if (group->is_of_construct && group->outer != nullptr) {
                    group = group->outer;
                }
                group->is_cancelled.store(true, std::memory_order_seq_cst);
            }
            break;
        case cancelled_part::region:
            of.is_cancelled.store(true, std::memory_order_seq_cst);
            wake_sleepers(of);
            break;
    }
    return true;
}

bool is_in_cancelled_part(const member& here, const task& next) noexcept {
    return region_is_cancelled(*here.of) || group_is_cancelled(next.group);
}

bool discards_new_tasks(const member& here) noexcept {
    return cancellation_is_on() &&
           (region_is_cancelled(*here.of) || group_is_cancelled(here.current->group));
}

bool wait_at_cancellable_barrier(member& here) noexcept {
    team& of = *here.of;
    if (!cancellation_is_on() || of.workers == nullptr) {
        wait_at_barrier(here);
        return is_cancelled(here, cancelled_part::region);
    }
    if (region_is_cancelled(of)) {
        return true;
    }
    wait_for_own_tasks(here);
    const std::uint32_t epoch = of.epoch.load(std::memory_order_relaxed);
    if (of.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == of.size) {
        of.arrived.store(0, std::memory_order_relaxed);
        of.work_is_cancelled.store(false, std::memory_order_relaxed);
        of.epoch.store(epoch + 1, std::memory_order_seq_cst);
        wake_sleepers(of);
        return region_is_cancelled(of);
    }
    wait_until(here, eligible::all, k_barrier_wait, [&of, epoch] {
        return of.epoch.load(std::memory_order_acquire) != epoch || region_is_cancelled(of);
    });
    return region_is_cancelled(of);
}

void wait_at_end(member& here) noexcept {
    team& of = *here.of;
    if (!cancellation_is_on() || of.workers == nullptr) {
        wait_at_barrier(here);
        return;
    }
    wait_for_own_tasks(here);
    const std::uint32_t target = of.ended_target;
    if (of.ended.fetch_add(1, std::memory_order_acq_rel) + 1 == target) {
        wake_sleepers(of);
        return;
    }
    wait_until(here, eligible::all, k_barrier_wait, [&of, target] {
        return static_cast<std::int32_t>(of.ended.load(std::memory_order_acquire) - target) >= 0;
    });
}

void reset_cancellation(team& of) noexcept {
    of.arrived.store(0, std::memory_order_relaxed);
    of.is_cancelled.store(false, std::memory_order_relaxed);
    of.work_is_cancelled.store(false, std::memory_order_relaxed);
    of.ended_target = of.ended.load(std::memory_order_relaxed) + of.size;
}

}  // namespace quern::omp
