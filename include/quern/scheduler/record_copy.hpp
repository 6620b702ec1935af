// SPDX-License-Identifier: BSL-1.0
// What is known of a task, read by a thread that does not run it: the record may lie in a frame on
// the task's stack, and be gone at any moment.
#pragma once

#include <quern/base/peek.hpp>
#include <quern/scheduler/context.hpp>

#include <cstddef>

namespace quern::detail {

/// A copy of a description. Where none is to be read, nothing is known of the task.
class record_copy {
public:
    record_copy() = default;

    /// Of the task that runs or waits on that stack now. Any thread. Cost: a call of the kernel
    /// when it runs in another one's place.
    explicit record_copy(context& of) noexcept {
        constexpr int k_attempts = 3;  // it may go while it is copied, and another one come
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

    /// False: there is no such memory, and the copy is as it was.
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
