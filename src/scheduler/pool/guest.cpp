// SPDX-License-Identifier: BSL-1.0
// A guest: an outside thread that takes the place of a sleeping worker. Protocol: README.md in this
// folder, section "Guests".
#include <quern/base/detail/assert.hpp>
#include <quern/scheduler/detail/fresh_stack.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <utility>

namespace quern::detail {

/// Skips the worker that watches the timers, which must continue. That worker sets m_watch before
/// it rests, so the check afterwards sees it.
worker* pool::take_place_of_sleeper() noexcept {
    const std::uint32_t active = knobs.active_workers.load(std::memory_order_relaxed);
    for (std::uint32_t rank = 0; rank < active && gate.load().sleeping != 0; ++rank) {
        worker& w = *m_workers[rank];
        if (m_watch.load(std::memory_order_relaxed) == &w || !gate.take_place(w.parker)) {
            continue;
        }
        if (m_watch.load(std::memory_order_seq_cst) != &w) {
            return &w;
        }
        w.leave_to_sleeper();
    }
    return nullptr;
}

/// Called by the guest, on its own stack. The worker's thread sleeps meanwhile in its context,
/// which is the current one before and after.
void worker::run_guest(runnable& item) noexcept {
    QUERN_ASSERT(current_context() == nullptr, "a worker cannot be a guest");
    execution_stack own;
    own.adopt(stack_of_caller());
    context* const sleeping = m_current.load(std::memory_order_relaxed);
    exception_globals* const exceptions = std::exchange(m_exceptions, &this_thread_exceptions());
    m_guest = &own;
    stats.begin_guest();
    const hooks* const h = m_pool.hooks.load(std::memory_order_acquire);
    if (h != nullptr) {
        h->unparks(*h, *this);
    }

    context& first = take_context(m_pool.stacks());
    first.reopen_for_loop(&item);
    adopt(first);
    own.switch_to(first, *m_exceptions, false);
    m_after.run(*m_left, nullptr);  // recycles the context that was left
    m_after = {};

    publish_work();
    quern_tls_context = nullptr;
    m_current.store(sleeping, std::memory_order_release);  // pairs with steal_fork
    m_exceptions = exceptions;
    m_guest = nullptr;
    stats.end_guest();
    if (h != nullptr) {
        h->parks(*h, *this);
    }
    leave_to_sleeper();
}

/// Like a worker that has announced its sleep, the guest checks for work once more: for work that
/// arrived meanwhile and found no sleeper, and for work that it leaves behind.
void worker::leave_to_sleeper() noexcept {
    const auto counts = m_pool.gate.leave_place(parker);
    const bool is_wanted =
        !queues.pinned.empty() || m_pool.has_shared_work() || has_public_work() ||
        m_pool.m_stop.load(std::memory_order_seq_cst) ||
        (m_pool.needs_watch() && m_pool.m_watch.load(std::memory_order_seq_cst) == nullptr);
    if (is_wanted) {
        m_pool.gate.wake(parker);
    } else {
        m_pool.notify_quiet(counts.sleeping);
    }
}

}  // namespace quern::detail
