// SPDX-License-Identifier: BSL-1.0
// Setting and clearing the pin of a task. The scheduler obeys it: resume() and worker::sends_home.
#include <quern/task/pin_to_worker.hpp>

#include <quern/base/assert.hpp>
#include <quern/scheduler/worker.hpp>

namespace quern {

pin_to_worker::pin_to_worker() noexcept : m_task(nullptr) {
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
