// SPDX-License-Identifier: BSL-1.0
// A copy of a task's record, for a thread that does not run the task. The record may lie in a frame
// on the task's stack and vanish at any moment.
#pragma once

#include <quern/base/detail/peek.hpp>
#include <quern/scheduler/detail/context.hpp>

#include <cstddef>

namespace quern::detail {

/// A copy of a description; empty if the description could not be read.
class record_copy {
public:
    record_copy() = default;

    /// The task that runs or waits on that stack now. Any thread. Cost: a system call if that task
    /// is inlined in another.
    explicit record_copy(context& of) noexcept {
        constexpr int k_attempts = 3;  // the record may vanish during the copy and another replace
                                       // it
        context& root = of.root();
        for (int i = 0; i < k_attempts; ++i) {
            const task_record* const at = &root.task();
            if (at == &root.own_task) {
                m_task = *at;
                return;
            }
            if (take(at) && at == &root.task()) {
                return;
            }
        }
        m_task = {};
    }

    /// False: the memory is not mapped, and the copy is unchanged.
    bool take(const task_description* at) noexcept {
        alignas(task_description) std::byte bytes[sizeof(task_description)];
        if (!copy_if_there(bytes, at, sizeof bytes)) {
            return false;
        }
        m_task = *reinterpret_cast<const task_description*>(bytes);
        return true;
    }

    task_description& operator*() noexcept { return m_task; }
    task_description* operator->() noexcept { return &m_task; }

private:
    task_description m_task;
};

}  // namespace quern::detail
