// SPDX-License-Identifier: BSL-1.0
// Counts the coroutines that wait, and notes them.
#include <quern/scheduler/detail/suspended_coroutines.hpp>

#include <quern/scheduler/detail/worker.hpp>

namespace quern::detail {

/// Coroutines suspended on outside threads are only counted: they are few.
std::int32_t suspended_coroutines::leaves(const runnable& who, const coroutine_marks& marks,
                                          const wait_reason& why) noexcept {
    worker* const here = current_worker();
    if (here == nullptr) {
        m_outside.fetch_add(1, std::memory_order_relaxed);
        return coroutine_notes::k_nowhere;
    }
    here->coroutines().add();
    return m_notes.begin(here->rank(), here->note_turn(), who, marks, why, ticks());
}

void suspended_coroutines::is_back() noexcept {
    if (worker* const here = current_worker()) {
        here->coroutines().take_back();
    } else {
        m_outside.fetch_sub(1, std::memory_order_relaxed);
    }
}

}  // namespace quern::detail
