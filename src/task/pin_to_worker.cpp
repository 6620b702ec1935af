// SPDX-License-Identifier: BSL-1.0
// Sets and clears the pin of a task. The scheduler respects it in resume() and worker::sends_home.
#include <quern/task/pin_to_worker.hpp>

#include <quern/base/detail/assert.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/task/this_task.hpp>

namespace quern {

pin_to_worker::pin_to_worker() noexcept : m_task(nullptr) {
    while (detail::context* const task = detail::current_context()) {
        if (!detail::this_worker(*task).has_guest()) {
            break;
        }
        this_task::yield();  // a guest thread leaves; the worker's own thread stays
    }
    detail::context* const here = detail::current_context();
    if (here != nullptr && here->root().pin == nullptr) {
        m_task = &here->root();
        m_task->pin = &here->host();
    }
}

pin_to_worker::~pin_to_worker() {
    if (m_task != nullptr) {
        QUERN_ASSERT(detail::task_root() == m_task && m_task->pin != nullptr,
                     "a pin_to_worker was destroyed by a task that did not make it");
        m_task->pin = nullptr;
    }
}

}  // namespace quern
