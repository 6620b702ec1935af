// SPDX-License-Identifier: BSL-1.0
// What any thread does with a domain: a task ends, or fails.
#include <quern/dependences/detail/domain_shared.hpp>

#include <quern/dependences/detail/dependent_task.hpp>
#include <quern/task/exceptions.hpp>

#include <utility>

namespace quern::detail {

domain_shared::domain_shared(pool& where) noexcept
    : m_pool(where), m_root(this), m_signal(std::stop_token()) {}

domain_shared::domain_shared(dependent_task& parent) noexcept
    : m_pool(parent.home_pool()),
      m_parent(&parent),
      m_root(&parent.home().root()),
      m_signal(std::stop_token(), &parent.home().signal()) {}

domain_shared& domain_shared::outer() const noexcept { return m_parent->home(); }

dependent_task* domain_shared::task_ended() noexcept {
    domain_waiter* const waiter = m_count.finished();
    if (waiter == nullptr) {
        return nullptr;
    }
    if (waiter->parent != nullptr) {
        return waiter->parent;
    }
    if (waiter->task != nullptr) {
        detail::resume(*waiter->task);
    } else {
        waiter->thread.set();
    }
    return nullptr;
}

void domain_shared::parent_ends() noexcept {
    detail::parent_ends(*this, [this] { outer().fail(m_error); });
}

void domain_shared::raise() noexcept {
    // relaxed: tasks that depend on the failed one see it through the release of its accesses, for
    // others it is a hint.
    m_root->m_any_stopped.store(true, std::memory_order_relaxed);
    m_signal.raise();
}

void domain_shared::fail(std::exception_ptr error) noexcept {
    fail_outwards(*this, std::move(error));
}

void domain_shared::report(std::exception_ptr error) noexcept {
    report_exception(std::move(error), exception_origin::later_exception);
}

void domain_shared::report_unobserved() noexcept {
    if (m_failing.failed.load(std::memory_order_acquire)) {
        report_exception(std::move(m_error), exception_origin::unobserved_group);
    }
}

std::exception_ptr domain_shared::take_error() noexcept {
    std::exception_ptr error = std::exchange(m_error, nullptr);
    m_failing.reset();
    m_signal.lower();
    return error;
}

}  // namespace quern::detail
