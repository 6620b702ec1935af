// SPDX-License-Identifier: BSL-1.0
// Detects that no task can run any more.
#include <quern/scheduler/detail/hang_watch.hpp>

#include "diagnosis/waits/report_parts.hpp"
#include "diagnosis/waits/threads_seen.hpp"

#include <quern/context/detail/sanitizer.hpp>
#include <quern/scheduler/detail/external_event.hpp>
#include <quern/scheduler/detail/foreign_threads.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/process_registry.hpp>
#include <quern/scheduler/task_report.hpp>

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace quern {

namespace detail {

namespace {

constexpr std::chrono::nanoseconds k_first_look = std::chrono::milliseconds(500);
constexpr std::chrono::nanoseconds k_longest_pause = std::chrono::minutes(1);

/// The last reported state: its `begun` + 1.
constinit std::atomic<std::uint64_t> g_said{0};

}  // namespace

namespace {

/// Of foreign libraries. The process registry's lock protects them.
struct foreign_threads {
    std::set<pid_t> harmless;
    unsigned generation = 0;  ///< of the process that has them
};

foreign_threads& foreign() {
    static foreign_threads& the_one = *new foreign_threads;  // lives as long as the process
    if (std::exchange(the_one.generation, fork_generation()) != fork_generation()) {
        the_one.harmless.clear();
    }
    return the_one;
}

}  // namespace

void declare_harmless(pid_t thread) {
    const std::scoped_lock guard(process_registry::lock());
    foreign().harmless.insert(thread);
}

void forget_harmless() noexcept {
    const std::scoped_lock guard(process_registry::lock());
    foreign().harmless.clear();
}

/// Whether a thread outside waits for another process; then it may wake a task.
static bool waits_for_another_process() {
    const process_registry& all = process_registry::of_process();
    for (outside_wait* o = all.outside.front(); o != nullptr; o = all.outside.after(*o)) {
        const wait_kind* const kind = o->note.kind();
        if (kind != nullptr && kind->is_call) {
            return true;
        }
    }
    return false;
}

std::optional<std::vector<pid_t>> threads_that_may_act() {
    const process_registry& all = process_registry::of_process();
    std::set<pid_t> harmless = foreign().harmless;
    for (pool_entry* p = all.pools.front(); p != nullptr; p = all.pools.after(*p)) {
        if (p->which.inherited()) {
            continue;
        }
        for (std::uint32_t rank = 0; rank < p->which.size(); ++rank) {
            harmless.insert(p->which.at(rank).thread_id());
        }
        // These run no task: otherwise the pool would not be quiet.
        p->which.spares().for_each_thread_id([&harmless](pid_t id) { harmless.insert(id); });
    }
    for (harmless_thread* h = all.harmless.front(); h != nullptr; h = all.harmless.after(*h)) {
        harmless.insert(h->thread);
    }
    for (outside_wait* o = all.outside.front(); o != nullptr; o = all.outside.after(*o)) {
        if (!o->event.is_set()) {
            harmless.insert(o->thread);
        }
    }
    std::vector<pid_t> others = threads_of_process();
    if (others.empty()) {
        return std::nullopt;
    }
    std::erase_if(others, [&harmless](pid_t id) { return harmless.count(id) != 0; });
    for (std::size_t i = 0; i < k_sanitizer_threads; ++i) {
        const auto one =
            std::find_if(others.begin(), others.end(), [](pid_t id) { return id != ::getpid(); });
        if (one != others.end()) {  // the main thread is never a sanitizer's
            others.erase(one);
        }
    }
    return others;
}

state_of_all look_at_pools() {
    const process_registry& all = process_registry::of_process();
    state_of_all state;
    for (pool_entry* p = all.pools.front(); p != nullptr; p = all.pools.after(*p)) {
        if (p->which.inherited()) {
            continue;
        }
        state.has_timer = state.has_timer || !p->which.time().timers().empty();
        state.quiet = state.quiet && p->which.quiet();
        state.begun += p->which.activations() + p->which.time().pollers().progress();
        state.away += p->which.away();
    }
    return state;
}

void say_on_stderr(std::string text) {
    text += "(--quern:hang-report=off keeps this quiet)\n";
    std::fwrite(text.data(), 1, text.size(), stderr);
}

bool say_hang(const std::string& heading, const std::vector<sighting>& seen, std::uint64_t begun) {
    if (g_said.exchange(begun + 1, std::memory_order_relaxed) == begun + 1) {
        return false;
    }
    say_on_stderr(heading + describe(seen));
    return true;
}

hang_watch::hang_watch(pool& of) noexcept
    : m_kept(of.hang_report().enabled && of.all_asleep()), m_pause(k_first_look) {
    if (m_kept) {
        const std::scoped_lock guard(process_registry::lock());
        const state_of_all now = look_at_pools();
        m_kept = now.quiet && now.away != 0;
        m_begun = now.begun;
    }
}

void hang_watch::look() noexcept try {
    m_pause = std::min(2 * m_pause, k_longest_pause);
    std::vector<sighting> seen;
    {
        const std::scoped_lock guard(process_registry::lock());
        const state_of_all now = look_at_pools();
        const bool still = now.quiet && now.away != 0 && now.begun == m_begun;
        m_kept = still;
        if (!still) {
            return;
        }
        const auto may_act = threads_that_may_act();
        if (!may_act || !may_act->empty() || waits_for_another_process()) {
            return;
        }
        seen = collect_waits();
    }
    m_kept = false;  // reported once
    say_hang("quern: no task can run any more, and nothing is left that could wake one; ", seen,
             m_begun);
} catch (const std::exception&) {
    m_kept = false;  // no memory for a report: the program is unaffected
}

std::vector<sighting> who_is_left(const pool_list& ending) noexcept try {
    const bool some = std::any_of(ending.begin(), ending.end(), [](const auto& p) {
        return p->hang_report().enabled && p->away() != 0;
    });
    if (!some) {
        return {};
    }
    const std::scoped_lock guard(process_registry::lock());
    return look_at(ending);
} catch (const std::exception&) {
    return {};
}

void report_abandoned(const std::vector<sighting>& left) noexcept try {
    if (!left.empty()) {
        say_on_stderr("quern: " + describe(left, "abandoned at the end of the runtime"));
    }
} catch (const std::exception&) {
    return;
}

}  // namespace detail

std::string task_report() {
    std::vector<detail::sighting> seen;
    {
        const std::scoped_lock guard(detail::process_registry::lock());
        seen = detail::collect_waits();
    }
    return detail::describe(seen);
}

}  // namespace quern
