// SPDX-License-Identifier: BSL-1.0
// Reports what keeps a runtime from ending: running tasks, tasks in blocking regions, timers,
// outstanding operations.
#include "runtime/end_watch.hpp"

#include <quern/base/detail/symbols.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/pool_view.hpp>
#include <quern/scheduler/detail/process_registry.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

namespace quern::detail {

namespace {

constexpr std::chrono::seconds k_patience{2};

std::uint64_t begun_in(const pool_list& all) noexcept {
    std::uint64_t sum = 0;
    for (const auto& each : all) {
        sum += each->activations();
    }
    return sum;
}

std::vector<worker_view> busy_workers(const pool_list& all) {
    std::vector<worker_view> busy;
    for (const auto& each : all) {
        for (worker_view& seen : view_of(pool_ref(*each)).workers) {
            if (seen.phase == worker_phase::running) {
                busy.push_back(std::move(seen));
            }
        }
    }
    return busy;
}

/// "timers, of which the next is due in 12 s"; empty without timers.
std::string timers_in(const pool_list& all) {
    auto earliest = timer::clock::time_point::max();
    for (const auto& each : all) {
        earliest = std::min(earliest, each->time().timers().earliest());
    }
    const auto now = timer::clock::now();
    if (earliest == timer::clock::time_point::max() || earliest < now) {
        return "";
    }
    std::array<char, 80> text{};
    std::snprintf(text.data(), text.size(), "timers, of which the next is due in %.1f s",
                  std::chrono::duration<double>(earliest - now).count());
    return text.data();
}

std::string heading(const pool_list& all, std::size_t busy) {
    std::string text;
    const auto add = [&text](const std::string& what) {
        text += (text.empty() || what.empty() ? "" : " and for ") + what;
    };
    add(busy == 0 ? ""
                  : std::to_string(busy) + (busy == 1 ? " task that runs" : " tasks that run"));
    add(timers_in(all));
    add(std::any_of(all.begin(), all.end(),
                    [](const auto& each) { return each->time().pollers().any(); })
            ? "outstanding operations"
            : "");
    const bool blocks =
        std::any_of(all.begin(), all.end(), [](const auto& each) { return each->spares().any(); });
    add(blocks ? "tasks in blocking regions" : "");
    return "quern: the end of a runtime waits for " + (text.empty() ? "its workers" : text) + "\n";
}

std::string describe_end(const pool_list& all) {
    const std::vector<worker_view> busy = busy_workers(all);
    std::string text = heading(all, busy.size());
    for (const worker_view& each : busy) {
        text += "  worker " + std::to_string(each.rank) + " runs " +
                (each.task.empty() ? "a task" : "task '" + each.task + "'") + "\n";
        text += each.site != nullptr ? "     made in " + describe_site(each.site) + "\n" : "";
    }
    std::vector<sighting> waiting;
    {
        const std::scoped_lock guard(process_registry::lock());
        waiting = look_at(all);
    }
    return text + (waiting.empty() ? "" : describe(waiting));
}

}  // namespace

void end_watch::look() noexcept try {
    const auto now = std::chrono::steady_clock::now();
    const std::uint64_t begun = begun_in(m_pools);
    if (begun != m_begun) {
        m_begun = begun;
        m_since = now;
        return;
    }
    const bool wanted = std::any_of(m_pools.begin(), m_pools.end(),
                                    [](const auto& each) { return each->hang_report().enabled; });
    if (m_said || !wanted || now - m_since < k_patience) {
        return;
    }
    m_said = true;
    say_on_stderr(describe_end(m_pools));
} catch (const std::exception&) {
    m_said = true;  // no memory for a message: the program is unaffected
}

}  // namespace quern::detail
