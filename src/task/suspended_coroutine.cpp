// SPDX-License-Identifier: BSL-1.0
// How a coroutine that waits is queued and resumed.
#include <quern/task/attributes.hpp>
#include <quern/task/coroutine_runner.hpp>

namespace quern::detail {

void suspended_coroutine::leave_as(std::coroutine_handle<> waiting, task_promise_base* promise) {
    next = reinterpret_cast<runnable*>(&current_pool().get());
    m_waiting = waiting;
    m_promise = promise;
    if (m_promise != nullptr && m_promise->runner != nullptr) {
        m_stop = m_promise->runner->lend_attributes(*this);
    }
}

void suspended_coroutine::go_on() noexcept { reinterpret_cast<pool*>(next)->make_ready(*this); }

context* suspended_coroutine::resume_queued(work& item) {
    auto& self = static_cast<suspended_coroutine&>(static_cast<runnable&>(item));
    if (context* larger = begin_task(self)) {
        return larger;
    }
    coroutine_runner here(self, self.m_stop);
    if (self.m_promise != nullptr) {
        self.m_promise->runner = &here;
    }
    here.run_next(self.m_waiting);
    here.run();
    return nullptr;
}

}  // namespace quern::detail
