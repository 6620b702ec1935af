// SPDX-License-Identifier: BSL-1.0
// Detects that nothing has run for a while, and reports a hang.
#include "diagnosis/hangs/hang_detector.hpp"

#include "diagnosis/waits/report_parts.hpp"
#include "diagnosis/waits/threads_seen.hpp"

#include <quern/scheduler/detail/external_event.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/process_registry.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <algorithm>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace quern::detail {

namespace {

using namespace std::chrono_literals;

/// Processor time in an interval. A thread that wakes and finds no work uses less; a thread that
/// computes uses more.
constexpr std::uint64_t k_idle_ns = 1'000'000;

/// Spare threads of all pools, and all workers except those that sleep or keep watch, and those
/// that wait as threads outside do. A watch uses a processor to ask pollers, but the events that
/// pollers have delivered are known. Requires: the process registry is locked.
std::vector<pid_t> threads_that_may_run() {
    std::vector<pid_t> all;
    const process_registry& process = process_registry::of_process();
    for (pool_entry* p = process.pools.front(); p != nullptr; p = process.pools.after(*p)) {
        if (p->which.inherited()) {
            continue;
        }
        for (std::uint32_t rank = 0; rank < p->which.size(); ++rank) {
            if (!p->which.at(rank).is_asleep()) {
                all.push_back(p->which.at(rank).thread_id());
            }
        }
        p->which.spares().for_each_thread_id([&all](pid_t id) { all.push_back(id); });
    }
    for (outside_wait* o = process.outside.front(); o != nullptr; o = process.outside.after(*o)) {
        if (!o->event.is_set()) {
            std::erase(all, o->thread);
        }
    }
    return all;
}

/// True if there is a waiter: a suspended task, a thread outside, or a thread in a task that does
/// not end. A program whose pools have nothing to do does not hang. Requires: the process registry
/// is locked.
bool any_waits(const state_of_all& now) {
    const process_registry& process = process_registry::of_process();
    for (outside_wait* o = process.outside.front(); o != nullptr; o = process.outside.after(*o)) {
        if (!o->event.is_set()) {
            return true;
        }
    }
    for (pool_entry* p = process.pools.front(); p != nullptr; p = process.pools.after(*p)) {
        for (std::uint32_t rank = 0; !p->which.inherited() && rank < p->which.size(); ++rank) {
            if (p->which.at(rank).stats().phase() == worker_phase::running) {
                return true;
            }
        }
    }
    return now.away != 0;
}

std::string heading(const std::vector<sighting>& seen, std::chrono::nanoseconds still) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(still).count();
    std::string text = "quern: nothing has run for " + std::to_string(seconds) + " s";
    std::string may_act;
    const auto add = [&](sighted what, const char* one, const char* several) {
        const auto count = std::count_if(seen.begin(), seen.end(),
                                         [what](const sighting& s) { return s.what == what; });
        if (count != 0) {
            may_act += (may_act.empty() ? ", and only " : " and ") + std::to_string(count) + " " +
                       (count == 1 ? one : several);
        }
    };
    add(sighted::poller, "poller", "pollers");
    add(sighted::foreign, "thread outside", "threads outside");
    return text + (may_act.empty() ? "" : may_act + " could wake a task") + "; ";
}

}  // namespace

hang_detector::hang_detector(std::chrono::seconds limit)
    : m_limit(limit), m_interval(std::clamp<std::chrono::nanoseconds>(m_limit / 4, 50ms, 1s)) {
    m_looks.emplace("hang-report", clock::now() + m_interval, [this] { return look(); });
}

bool hang_detector::has_run(std::uint64_t begun) {
    bool result = std::exchange(m_begun, begun) != begun;
    std::map<pid_t, std::uint64_t> ran;
    for (const pid_t each : threads_that_may_run()) {
        const std::uint64_t now = cpu_ns_of(each);
        const auto before = m_ran.find(each);
        result = result || before == m_ran.end() || now > before->second + k_idle_ns;
        ran.emplace(each, now);
    }
    m_ran = std::move(ran);
    return result;
}

hang_detector::clock::time_point hang_detector::look() try {
    const auto now = clock::now();
    std::vector<sighting> seen;
    std::uint64_t begun = 0;
    {
        const std::scoped_lock guard(process_registry::lock());
        const state_of_all state = look_at_pools();
        if (has_run(state.begun) || state.has_timer || !any_waits(state)) {
            m_still_since = now;
            m_said = false;
        }
        if (m_said || now - m_still_since < m_limit) {
            return now + m_interval;
        }
        seen = collect_waits(threads_that_may_act().value_or(std::vector<pid_t>()));
        begun = state.begun;
    }
    m_said = true;
    say_hang(heading(seen, now - m_still_since), seen, begun);
    return now + m_interval;
} catch (const std::exception&) {
    return clock::now() + m_interval;  // no memory for a report: the program is unaffected
}

}  // namespace quern::detail
