// SPDX-License-Identifier: BSL-1.0
// A guest: an outside thread that takes the place of a sleeping worker. Protocol:
// src/scheduler/README.md, section "Guests".
#include <quern/base/detail/assert.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>

namespace quern::detail {

/// Called by the guest, on its own stack. The worker's thread sleeps meanwhile in its context,
/// which is the current one before and after.
void worker::run_guest(runnable& item) noexcept {
    QUERN_ASSERT(current_context() == nullptr, "a worker cannot be a guest");
    guest_place place;
    begin_guest(place);
    const hooks* const h = home().hooks();
    if (h != nullptr) {
        h->unparks(*h, *this);
    }

    context& first = take_context(home().stacks());
    first.reopen_for_loop(&item);
    run_guest_from(place, first);

    publish_work();
    end_guest(place);
    if (h != nullptr) {
        h->parks(*h, *this);
    }
    m_idle.leave_to_sleeper();
}

/// Like a worker that has announced its sleep, the guest checks for work once more: for work that
/// arrived meanwhile and found no sleeper, and for work that it leaves behind.
void idle_loop::leave_to_sleeper() noexcept {
    const auto counts = m_pool.gate().leave_place(m_self.parker());
    const bool is_wanted = m_self.has_pinned() || m_pool.has_shared_work() ||
                           m_self.has_public_work() || m_pool.must_end(std::memory_order_seq_cst) ||
                           (m_pool.time().needs_watch() && m_pool.time().watch() == nullptr);
    if (is_wanted) {
        m_pool.gate().wake(m_self.parker());
    } else {
        m_pool.notify_quiet(counts.sleeping);
    }
}

}  // namespace quern::detail
