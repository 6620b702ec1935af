// SPDX-License-Identifier: BSL-1.0
// The parts of task_group that do not depend on the task's type.
#include <quern/task/task_group.hpp>

#include <quern/base/assert.hpp>
#include <quern/scheduler/worker.hpp>

#include <cstdio>
#include <stdexcept>

namespace quern {

namespace {

/// Whoever calls: the context on which the calling task began, or null for a thread outside.
detail::context* own_root() noexcept {
    detail::context* here = detail::current_context();
    return here != nullptr ? &here->root() : nullptr;
}

}  // namespace

const detail::wait_kind task_group::k_wait{
    "task group", sizeof(task_group), [](const void* copy, detail::wait_findings& into) noexcept {
        const auto left = static_cast<const task_group*>(copy)->m_count.outstanding();
        std::snprintf(into.words.data(), into.words.size(), "%lld of its tasks have not ended",
                      static_cast<long long>(left));
    }};

task_group::task_group() : task_group(current_pool()) {}

task_group::task_group(std::stop_token outer) : task_group(current_pool(), std::move(outer)) {}

task_group::task_group(pool_ref where, std::stop_token outer)
    : m_pool(where.get()), m_owner(own_root()), m_stop(std::move(outer)) {
    if (m_owner == nullptr) {
        m_owner_thread = std::this_thread::get_id();
    }
}

task_group::~task_group() {
    QUERN_ASSERT(owned_here(),
                 "a task_group was destroyed by a task or thread that did not make it");
    wait_for_all();
    if (m_failed.load(std::memory_order_relaxed)) {
        detail::report_exception(std::move(m_error), exception_origin::unobserved_group);
    }
}

bool task_group::owned_here() const noexcept {
    return own_root() == m_owner &&
           (m_owner != nullptr || std::this_thread::get_id() == m_owner_thread);
}

void task_group::launch_task(detail::runnable& item) noexcept {
    if (m_owner != nullptr && owned_here()) {
        m_count.owner_spawned();
    } else {
        m_count.spawned();
    }
    m_pool.make_ready(item);
}

detail::context* task_group::task_ended() noexcept {
    if (m_owner != nullptr && owned_here()) {  // in run_own_tasks
        m_count.owner_finished();
        return nullptr;
    }
    waiting* waiter = m_count.finished();
    if (waiter == nullptr) {
        return nullptr;
    }
    if (waiter->task == nullptr) {
        waiter->thread.set();
        return nullptr;
    }
    // The present worker goes on with the owner, unless that belongs to another pool.
    if (&waiter->task->host().home() == &detail::current_context()->host().home()) {
        return waiter->task;
    }
    detail::resume(*waiter->task);
    return nullptr;
}

void task_group::failed(std::exception_ptr error) noexcept {
    if (!m_failed.exchange(true, std::memory_order_relaxed)) {
        m_error = std::move(error);  // read after the count has come to zero
    } else {
        detail::report_exception(std::move(error), exception_origin::later_exception);
    }
    cancel();
}

/// Runs the youngest ready items of the calling worker as long as they are the group's: the owner
/// could not go on without them.
void task_group::run_own_tasks() noexcept {
    for (;;) {
        const detail::context& self = *detail::current_context();
        detail::worker& here = self.host();
        if (&here.home() != &m_pool || self.is_low(__builtin_frame_address(0))) {
            break;
        }
        detail::runnable* item = m_pool.policy().pop(here);
        if (item == nullptr) {
            break;
        }
        if (!is_own(*item) || item->stack != stack_class::small) {
            here.put_back(*item);
            break;
        }
        here.note_wait_of(*item);
        const detail::lent_context lent(*item);
        item->run(*item);
    }
}

void task_group::wait_for_all() noexcept {
    if (m_owner != nullptr) {
        run_own_tasks();
    }
    if (m_count.owner_done()) {
        return;
    }
    waiting self;
    if (m_owner == nullptr) {
        if (m_count.wait(self)) {
            self.thread.wait({&k_wait, this});
        }
    } else {
        self.task = detail::current_context();
        auto publish = [this, &self](detail::context&) { return m_count.wait(self); };
        detail::suspend(publish, {&k_wait, this});
    }
    m_count.reset();
}

void task_group::wait() {
    if (!owned_here()) {
        throw std::logic_error(
            "quern: task_group::wait() was called by a task or thread that did "
            "not make the group");
    }
    wait_for_all();
    m_stop.renew();
    if (m_failed.load(std::memory_order_relaxed)) {
        m_failed.store(false, std::memory_order_relaxed);
        std::rethrow_exception(std::exchange(m_error, nullptr));
    }
    detail::throw_if_stopped(m_stop.token(), task_cancelled::subject::group);
}

}  // namespace quern
