// SPDX-License-Identifier: BSL-1.0
// How a task with a stack waits until its holds are dropped.
#include <quern/base/detail/blocks.hpp>
#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/task_holds.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <cstdio>
#include <new>
#include <utility>

namespace quern::detail {

namespace {

constexpr wait_kind k_wait{"what holds the task", sizeof(task_holds),
                           [](const void* copy, wait_findings& into) noexcept {
                               std::snprintf(into.words.data(), into.words.size(),
                                             "its function has returned, holds left: %u",
                                             static_cast<const task_holds*>(copy)->outstanding());
                           }};

}  // namespace

task_holds& holds_of(task_record& task) {
    if (task.holds == nullptr) {
        task.holds = ::new (allocate_block(sizeof(task_holds))) task_holds;
    }
    return *task.holds;
}

void wait_for_holds(task_record& ended) noexcept {
    task_holds& holds = *std::exchange(ended.holds, nullptr);
    auto publish = [&holds](context& self) {
        return !holds.has_ended(
            [](void* waiting) noexcept { detail::resume(*static_cast<context*>(waiting)); }, &self);
    };
    if (current_context() != nullptr) {
        detail::suspend(publish, {&k_wait, &holds});
    }
    holds.~task_holds();
    free_block(&holds, sizeof(task_holds));
}

}  // namespace quern::detail
