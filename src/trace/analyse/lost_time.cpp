// SPDX-License-Identifier: BSL-1.0
// The same looks as of a recording (taken_time.cpp), without one. The kernel counts a wait in a run
// queue when it ends, so a short stretch may be charged with one that began before it. What a
// worker has lost for certain follows from what it did: it was neither asleep for want of work nor
// ran.
#include <quern/trace/detail/lost_time.hpp>

#include "record/taken_time.hpp"

#include <quern/scheduler/detail/blocked_time.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace quern::trace::detail {

namespace {

using clock = std::chrono::steady_clock;

constexpr double k_tick_ns = 1e7;  // in which the kernel counts steal: 10 ms

struct worker_look {
    std::int32_t thread;
    double run_ns;
    double asleep_ns;
};

std::vector<worker_look> look_at_workers(pool_ref of) {
    std::vector<worker_look> all;
    for (unsigned rank = 0; rank < of.workers(); ++rank) {
        const std::int32_t thread = of.get().at(rank).thread_id();
        const worker_totals totals = of.worker(rank);
        all.push_back(
            {thread, quern::detail::thread_run_ns(thread), totals.asleep_ns + totals.throttled_ns});
    }
    return all;
}

lost_time_look look_at(const std::vector<worker_look>& workers, lost_time_parts which) {
    std::vector<std::int32_t> threads;
    threads.reserve(workers.size());
    for (const worker_look& each : workers) {
        threads.push_back(each.thread);
    }
    if (which == lost_time_parts::all) {
        return look_at_lost_time(threads);
    }
    lost_time_look seen;
    seen.threads = schedules_of(threads);
    return seen;
}

}  // namespace

struct lost_time_since::state {
    pool_ref of;
    lost_time_parts which;
    std::vector<worker_look> workers;
    lost_time_look before;
    clock::time_point begun;
};

lost_time_since::lost_time_since(pool_ref of, lost_time_parts which) {
    std::vector<worker_look> workers = look_at_workers(of);
    lost_time_look before = look_at(workers, which);
    m_state = std::make_unique<state>(
        state{of, which, std::move(workers), std::move(before), clock::now()});
}
lost_time_since::~lost_time_since() = default;
lost_time_since::lost_time_since(lost_time_since&&) noexcept = default;
lost_time_since& lost_time_since::operator=(lost_time_since&&) noexcept = default;

lost_time lost_time_since::read() const {
    const double wall =
        std::chrono::duration<double, std::nano>(clock::now() - m_state->begun).count();
    const std::vector<worker_look> workers = look_at_workers(m_state->of);
    const lost_time_look now = look_at(workers, m_state->which);
    lost_time found;
    for (std::size_t i = 0; i < workers.size() && i < m_state->workers.size(); ++i) {
        const worker_look& last = workers[i];
        const worker_look& first = m_state->workers[i];
        const auto after = now.threads.find(last.thread);
        if (after == now.threads.end()) {
            continue;
        }
        const auto before = m_state->before.threads.find(last.thread);
        const double waited =
            after->second.wait_ns -
            (before != m_state->before.threads.end() ? before->second.wait_ns : 0.0);
        const double asleep = std::clamp(last.asleep_ns - first.asleep_ns, 0.0, wall);
        const double away = std::max(wall - (last.run_ns - first.run_ns), 0.0);
        found.ns += std::clamp(waited, 0.0, away);
        found.certain_ns += std::clamp(away - asleep, 0.0, std::max(waited, 0.0));
        found.awake_ns += wall - asleep;
    }
    // Thread clocks contain what the hypervisor took.
    const double stolen = between(m_state->before, now).by_hypervisor_ns.value_or(0.0);
    found.ns += stolen;
    found.certain_ns += std::max(stolen - k_tick_ns, 0.0);
    return found;
}

}  // namespace quern::trace::detail
