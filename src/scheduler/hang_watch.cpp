// SPDX-License-Identifier: BSL-1.0
// Finding out that nothing can go on any more.
#include <quern/scheduler/hang_watch.hpp>

#include "report_parts.hpp"

#include <quern/context/sanitizer.hpp>
#include <quern/scheduler/census.hpp>
#include <quern/scheduler/external_event.hpp>
#include <quern/scheduler/pool.hpp>
#include <quern/scheduler/task_report.hpp>

#include <dirent.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace quern {

namespace detail {

namespace {

constexpr std::chrono::nanoseconds k_first_pause = std::chrono::milliseconds(500);
constexpr std::chrono::nanoseconds k_longest_pause = std::chrono::minutes(1);

/// Threads of the process that are neither workers nor Quern's own helpers, and do not wait in
/// Quern for something that has not come: each of them may still wake a task. Requires: the census
/// is locked.
std::size_t threads_that_may_act(const census& all) {
    std::set<pid_t> harmless;
    for (pool_entry* p = all.pools.front(); p != nullptr; p = all.pools.after(*p)) {
        if (p->which.inherited()) {
            continue;
        }
        for (std::uint32_t rank = 0; rank < p->which.size(); ++rank) {
            harmless.insert(p->which.at(rank).thread_id());
        }
        // They have no task: else the pool would not be quiet.
        p->which.spares.for_each_thread_id([&harmless](pid_t id) { harmless.insert(id); });
    }
    for (harmless_thread* h = all.harmless.front(); h != nullptr; h = all.harmless.after(*h)) {
        harmless.insert(h->thread);
    }
    for (outside_wait* o = all.outside.front(); o != nullptr; o = all.outside.after(*o)) {
        if (!o->event.is_set()) {
            harmless.insert(o->thread);
        }
    }
    std::size_t others = 0;
    const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir("/proc/self/task"), ::closedir);
    if (tasks == nullptr) {
        return 1;  // nobody knows
    }
    while (const dirent* entry = ::readdir(tasks.get())) {  // its own stream: safe
        if (entry->d_name[0] != '.') {
            others += harmless.count(static_cast<pid_t>(std::atol(entry->d_name))) == 0 ? 1 : 0;
        }
    }
    return others - std::min(others, k_sanitizer_threads);
}

struct state_of_all {
    bool quiet = true;
    std::uint64_t begun = 0;
    std::uint64_t away = 0;
};

/// Requires: the census is locked.
state_of_all look_at_pools(const census& all) {
    state_of_all state;
    for (pool_entry* p = all.pools.front(); p != nullptr; p = all.pools.after(*p)) {
        if (p->which.inherited()) {
            continue;
        }
        state.quiet = state.quiet && p->which.quiet() && p->which.pollers.empty();
        state.begun += p->which.activations();
        state.away += p->which.away();
    }
    return state;
}

std::string heading(std::size_t may_act) {
    if (may_act == 0) {
        return "quern: no task can run any more, and nothing is left that could wake one; ";
    }
    return "quern: nothing has run for a while, and only " + std::to_string(may_act) +
           (may_act == 1 ? " thread" : " threads") + " outside could wake a task; ";
}

void say(std::string text) {
    text += "(--quern:hang_report=off keeps this quiet)\n";
    std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

hang_watch::hang_watch(pool& of) noexcept
    : m_pool(of),
      m_kept(of.hang_report().enabled && of.all_asleep()),
      m_pause(std::min<std::chrono::nanoseconds>(k_first_pause, of.hang_report().patience)) {
    if (m_kept) {
        const census& all = census::of_process();
        const std::scoped_lock guard(census::lock());
        const state_of_all now = look_at_pools(all);
        m_kept = now.quiet && now.away != 0;
        m_begun = now.begun;
    }
}

void hang_watch::look() noexcept try {
    m_waited += m_pause;
    m_pause = std::min(2 * m_pause, k_longest_pause);
    if (m_waited < m_pool.hang_report().patience) {
        m_pause =
            std::min<std::chrono::nanoseconds>(m_pause, m_pool.hang_report().patience - m_waited);
    }
    std::vector<sighting> seen;
    std::size_t may_act = 0;
    {
        const census& all = census::of_process();
        const std::scoped_lock guard(census::lock());
        const state_of_all now = look_at_pools(all);
        const bool still = now.quiet && now.away != 0 && now.begun == m_begun;
        m_kept = still;
        if (!still) {
            return;
        }
        may_act = threads_that_may_act(all);
        if (may_act != 0 && m_waited < m_pool.hang_report().patience) {
            return;
        }
        seen = look_around();
    }
    m_kept = false;  // said once
    say(heading(may_act) + describe(seen));
} catch (const std::exception&) {
    m_kept = false;  // no memory for a report: the program is no worse for it
}

std::vector<sighting> who_is_left(const pool_list& ending) noexcept try {
    const bool some = std::any_of(ending.begin(), ending.end(), [](const auto& p) {
        return p->hang_report().enabled && p->away() != 0;
    });
    if (!some) {
        return {};
    }
    const std::scoped_lock guard(census::lock());
    return look_at(ending);
} catch (const std::exception&) {
    return {};
}

void report_abandoned(const std::vector<sighting>& left) noexcept try {
    if (!left.empty()) {
        say("quern: " + describe(left, "abandoned at the end of the runtime"));
    }
} catch (const std::exception&) {
    return;
}

}  // namespace detail

std::string task_report() {
    std::vector<detail::sighting> seen;
    {
        const std::scoped_lock guard(detail::census::lock());
        seen = detail::look_around();
    }
    return detail::describe(seen);
}

}  // namespace quern
