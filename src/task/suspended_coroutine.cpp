// SPDX-License-Identifier: BSL-1.0
// Queues and resumes waiting coroutines, and numbers started coroutines.
#include <quern/task/attributes.hpp>
#include <quern/task/detail/coroutine_runner.hpp>

#include <atomic>
#include <utility>

namespace quern::detail {

std::uint32_t coroutine_root::new_number() noexcept {
    constexpr std::uint32_t k_at_once =
        1024;  // numbers per thread, so that the shared counter is rarely written
    static std::atomic<std::uint32_t> all{0};
    thread_local std::uint32_t next = 0;
    if (next % k_at_once == 0) {
        next = all.fetch_add(k_at_once, std::memory_order_relaxed);
    }
    return ++next;
}

void suspended_coroutine::leave_as(std::coroutine_handle<> waiting, task_promise_base* promise,
                                   const wait_reason& why) {
    pool& where = current_pool().get();
    next = reinterpret_cast<runnable*>(&where);
    m_waiting = waiting;
    m_promise = promise;
    if (m_promise != nullptr && m_promise->runner != nullptr) {
        m_root = m_promise->runner->lend_attributes(*this);
    }
    coroutine_marks marks{waiting.address()};
    if (m_root != nullptr) {
        marks.holder = coroutine_root::holder(&m_root->stop());
        marks.result = m_root->result();
    }
    home = where.coroutines().leaves(*this, marks, why);
}

void suspended_coroutine::stay() noexcept {
    pool& where = waits_in();
    where.coroutines().notes().end(home);
    where.coroutines().is_back();
}

void suspended_coroutine::resume() noexcept {
    pool& where = waits_in();
    where.coroutines().notes().end(std::exchange(home, k_anywhere));
    where.make_ready(*this);
}

context* suspended_coroutine::resume_queued(work& item) {
    auto& self = static_cast<suspended_coroutine&>(static_cast<runnable&>(item));
    if (context* larger = begin_task(self)) {
        return larger;
    }
    current_context()->host().home().coroutines().is_back();
    coroutine_runner here(self, self.m_root);
    if (self.m_promise != nullptr) {
        self.m_promise->runner = &here;
    }
    here.run_next(self.m_waiting);
    const task_body body(task_body::part_of::caller);
    here.run();
    return nullptr;
}

}  // namespace quern::detail
