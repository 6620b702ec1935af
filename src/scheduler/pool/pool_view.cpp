// SPDX-License-Identifier: BSL-1.0
// Reads the state of a running pool.
#include <quern/scheduler/detail/pool_view.hpp>

#include "diagnosis/waits/report_parts.hpp"

#include <quern/scheduler/detail/blocked_time.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/process_registry.hpp>
#include <quern/scheduler/detail/record_copy.hpp>

#include <algorithm>
#include <mutex>

namespace quern::detail {

namespace {

worker_view view_of(const worker_shared& w) {
    worker_view seen;
    seen.rank = w.rank();
    seen.thread = w.thread_id();
    seen.totals = w.stats().read();
    const auto blocked = read_blocked_ns(w);
    seen.blocked_ns = blocked ? std::max(*blocked, 0.0) : 0.0;
    if (const auto thread = look_at_thread(w)) {
        seen.lost_ns = thread->waited_ns;
        seen.ran_ns = thread->ran_ns;
    }
    seen.queued = w.queued();
    seen.phase = w.stats().phase();
    context* const running = w.running();
    if (seen.phase == worker_phase::running && running != nullptr) {
        record_copy task(*running);
        seen.task = copy_text(task->name);
        seen.site = task->site;
        if (seen.task.empty() && seen.site == nullptr) {  // a stolen child of a fork or of a loop
            seen.entry =
                reinterpret_cast<const void*>(static_cast<work::run_function>(task->entry));
        }
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
    seen.queued = p.injector().size() + p.queued_by_policy();
    // A sum of differences: briefly negative while a task moves between workers.
    const auto away = static_cast<std::int64_t>(p.away());
    seen.suspended = static_cast<std::uint64_t>(std::max<std::int64_t>(away, 0));
    for (std::uint32_t rank = 0; rank < p.size(); ++rank) {
        seen.workers.push_back(view_of(p.at(rank)));
    }
    return seen;
}

std::string why_no_task(const std::vector<const pool*>& own) {
    const process_registry& all = process_registry::of_process();
    const std::scoped_lock guard(process_registry::lock());
    for (pool_entry* p = all.pools.front(); p != nullptr; p = all.pools.after(*p)) {
        const pool& each = p->which;
        const bool is_own = std::find(own.begin(), own.end(), &each) != own.end();
        const std::uint64_t tasks = each.inherited() || is_own ? 0 : each.totals().tasks;
        if (tasks != 0) {
            return "No task has run on this runtime; " + std::to_string(tasks) +
                   " have run on another one of this process, in pool '" + each.name() +
                   "' (workers: " + std::to_string(each.size()) +
                   "). What is called outside of any task goes to the default runtime: the one "
                   "that "
                   "was made while there was none. Make this one first, or name it: "
                   "quern::async(rt, ...).";
        }
    }
    return "No task has run: the program has started none on this runtime.";
}

}  // namespace quern::detail
