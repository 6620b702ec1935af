// SPDX-License-Identifier: BSL-1.0
// Looking at a pool that runs.
#include <quern/scheduler/pool_view.hpp>

#include "report_parts.hpp"

#include <quern/scheduler/pool.hpp>

#include <algorithm>

namespace quern::detail {

namespace {

std::size_t queued_in(const worker_queues& q) noexcept {
    return q.deque.size() + q.pending.size() + q.staged.size() + q.inbox.size() + q.pinned.size();
}

worker_view view_of(const worker& w) {
    worker_view seen;
    seen.rank = w.rank();
    seen.thread = w.thread_id();
    seen.totals = w.stats.read();
    seen.queued = queued_in(w.queues);
    seen.phase = w.stats.phase();
    context* const running = w.running();
    if (seen.phase == worker_phase::running && running != nullptr) {
        const task_record& task = running->root().task;
        seen.task = copy_text(task.name);
        seen.site = task.site;
    }
    return seen;
}

}  // namespace

pool_view view_of(const pool_ref& which) {
    pool& p = which.get();
    pool_view seen;
    seen.name = p.name();
    seen.policy = p.policy().name;
    seen.active_workers = which.active_workers();
    seen.queued = p.injector.size() + p.high.size() + p.low.size() + p.items_of_nodes();
    // A sum of differences: less than nothing for a moment, while a task moves between workers.
    const auto away = static_cast<std::int64_t>(p.away());
    seen.suspended = static_cast<std::uint64_t>(std::max<std::int64_t>(away, 0));
    for (std::uint32_t rank = 0; rank < p.size(); ++rank) {
        seen.workers.push_back(view_of(p.at(rank)));
    }
    return seen;
}

}  // namespace quern::detail
