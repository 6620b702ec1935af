// SPDX-License-Identifier: BSL-1.0
// A task_group in virtual time: each task is an item of the ready deque. Its owner waits as
// task_group::wait() does, but counts the tasks that it runs itself by a read-modify-write too.
#pragma once

#include "fork.hpp"

#include <deque>
#include <utility>

namespace virtual_time {

/// F gets a fork_place and returns a number. The group lives in the frame of its owner.
template <class F>
class task_group {
public:
    explicit task_group(context& owner) : m_owner(owner) {}
    task_group(const task_group&) = delete;
    task_group& operator=(const task_group&) = delete;

    void run(F f) {
        atomics::spend(&costs::queued_spawn);
        m_left.fetch_add(1, std::memory_order_relaxed);
        m_owner.host().push(m_tasks.emplace_back(*this, std::move(f)));
    }

    /// Returns the sum of what all tasks have returned.
    std::uint64_t wait() {
        while (ready_item* const item = m_owner.host().pop()) {
            static_cast<void>(item->run(m_owner));  // the owner itself has not registered yet
        }
        if (m_left.fetch_sub(1) != 1) {
            m_owner.suspend(
                [](context& self, void* of) {
                    return static_cast<task_group*>(of)->m_done.register_waiter(self);
                },
                this);
        }
        std::uint64_t sum = 0;
        for (const task& each : m_tasks) {
            sum += each.result;
        }
        return sum;
    }

private:
    struct task final : ready_item {
        task(task_group& g, F f) : home(g), function(std::move(f)) {}

        context* run(context& here) override {
            atomics::spend(&costs::loop_turn);
            result = function(place_in(here));
            return home.m_left.fetch_sub(1) == 1 ? home.m_done.complete() : nullptr;
        }

        task_group& home;
        F function;
        std::uint64_t result = 0;
    };

    context& m_owner;
    atomic<std::uint64_t> m_left{1};  ///< the owner's wait counts too
    quern::detail::completion<atomics, context> m_done;
    std::deque<task> m_tasks;
};

}  // namespace virtual_time
