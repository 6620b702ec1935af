// SPDX-License-Identifier: BSL-1.0
// The hook of tasks that resume after a wait. Runs on the task's own stack, where the call chain of
// the wait is visible; it is captured only if a sink requests it.
#include "record/lane_visit.hpp"

#include <algorithm>

namespace quern::trace::detail {

/// A task that yielded has no wake-up time: it did not wait for anything.
void pool_hooks::on_waited(self which, worker& on, const quern::detail::wait_reason& why,
                           tick_count since) {
    pool_hooks& all = of(which);
    const tick_count woken = all.lane_of(on).woken_at;
    if (woken == 0) {
        return;
    }
    const tick_count begin = std::max(since, all.m_since.load(std::memory_order_relaxed));
    task_record& task = quern::detail::current_context()->root().task();
    const task_wait what{begin, std::max(begin, woken), why, task};
    bool wants_place = false;
    if (const visit v(which, on); v) {
        v.whole().number(v.at(), task);
        for (sink* const s : v.at().sinks) {
            wants_place = s->waited(what) || wants_place;
        }
    }
    if (!wants_place) {
        return;
    }
    const auto calls = quern::detail::call_chain::here(2);  // this function and suspend()
    if (const visit v(which, on); v) {
        for (sink* const s : v.at().sinks) {
            s->placed(what, calls);
        }
    }
}

}  // namespace quern::trace::detail
