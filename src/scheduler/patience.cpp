// SPDX-License-Identifier: BSL-1.0
// Finding out that nothing has run for a while.
#include "patience.hpp"

#include "report_parts.hpp"
#include "threads_seen.hpp"

#include <quern/scheduler/census.hpp>
#include <quern/scheduler/external_event.hpp>
#include <quern/scheduler/pool.hpp>
#include <quern/scheduler/worker.hpp>

#include <algorithm>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace quern::detail {

namespace {

using namespace std::chrono_literals;

/// A thread that wakes and finds nothing runs for less; one that computes, in an interval, for
/// more.
constexpr std::uint64_t k_idle_ns = 1'000'000;

/// Workers and spare threads of all pools. Requires: the census is locked.
std::vector<pid_t> threads_of_pools() {
    std::vector<pid_t> all;
    const census& everybody = census::of_process();
    for (pool_entry* p = everybody.pools.front(); p != nullptr; p = everybody.pools.after(*p)) {
        if (p->which.inherited()) {
            continue;
        }
        for (std::uint32_t rank = 0; rank < p->which.size(); ++rank) {
            all.push_back(p->which.at(rank).thread_id());
        }
        p->which.spares.for_each_thread_id([&all](pid_t id) { all.push_back(id); });
    }
    return all;
}

/// Whether somebody waits: a suspended task, a thread outside, or one in a task that does not end.
/// A program whose pools have nothing to do does not hang. Requires: the census is locked.
bool somebody_waits(const state_of_all& now) {
    const census& everybody = census::of_process();
    for (outside_wait* o = everybody.outside.front(); o != nullptr;
         o = everybody.outside.after(*o)) {
        if (!o->event.is_set()) {
            return true;
        }
    }
    for (pool_entry* p = everybody.pools.front(); p != nullptr; p = everybody.pools.after(*p)) {
        for (std::uint32_t rank = 0; !p->which.inherited() && rank < p->which.size(); ++rank) {
            if (p->which.at(rank).stats.phase() == worker_phase::running) {
                return true;
            }
        }
    }
    return now.away != 0;
}

std::string heading(std::size_t may_act, std::chrono::nanoseconds still) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(still).count();
    std::string text = "quern: nothing has run for " + std::to_string(seconds) + " s";
    if (may_act != 0) {
        text += ", and only " + std::to_string(may_act) + (may_act == 1 ? " thread" : " threads") +
                " outside could wake a task";
    }
    return text + "; ";
}

}  // namespace

patience::patience(std::chrono::seconds limit)
    : m_limit(limit), m_interval(std::clamp<std::chrono::nanoseconds>(m_limit / 4, 50ms, 1s)) {
    m_thread.emplace("quern/patience", clock::now() + m_interval, [this] { return look(); });
}

bool patience::has_run(std::uint64_t begun) {
    bool result = std::exchange(m_begun, begun) != begun;
    std::map<pid_t, std::uint64_t> ran;
    for (const pid_t each : threads_of_pools()) {
        const std::uint64_t now = cpu_ns_of(each);
        const auto before = m_ran.find(each);
        result = result || before == m_ran.end() || now > before->second + k_idle_ns;
        ran.emplace(each, now);
    }
    m_ran = std::move(ran);
    return result;
}

patience::clock::time_point patience::look() try {
    const harmless_thread wakes_no_task;
    const auto now = clock::now();
    std::vector<sighting> seen;
    std::vector<pid_t> may_act;
    std::uint64_t begun = 0;
    {
        const std::scoped_lock guard(census::lock());
        const state_of_all state = look_at_pools();
        if (has_run(state.begun) || state.waits_for_time || !somebody_waits(state)) {
            m_still_since = now;
            m_said = false;
        }
        if (m_said || now - m_still_since < m_limit) {
            return now + m_interval;
        }
        may_act = threads_that_may_act().value_or(std::vector<pid_t>());
        seen = look_around(may_act);
        begun = state.begun;
    }
    m_said = true;
    say_hang(heading(may_act.size(), now - m_still_since), seen, begun);
    return now + m_interval;
} catch (const std::exception&) {
    return clock::now() + m_interval;  // no memory for a report: the program is no worse for it
}

}  // namespace quern::detail
