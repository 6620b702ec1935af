// SPDX-License-Identifier: BSL-1.0
// Finds that no member can run any more. Protocol: ../README.md, section "Hangs".
#include "core/hangs.hpp"

#include "core/crew.hpp"
#include "core/stacks.hpp"

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/process.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/process_registry.hpp>
#include <quern/scheduler/task_report.hpp>
#include <quern/settings/settings.hpp>

#include <dirent.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace quern::omp {

namespace {

using detail::process_registry;

constexpr double k_pause_ns = 250e6;   ///< between two looks
constexpr double k_still_ns = 500e6;   ///< how long nothing changes before a report
constexpr std::uint64_t k_looks = 20;  ///< in vain, of each member that searches, meanwhile
constexpr std::uint64_t k_idle_ns = 1'000'000;  ///< processor time that is no work

/// A wait as one look has seen it.
struct seen_wait {
    std::uint64_t number;
    std::uint64_t looks;
};

/// What is known of the process. The lock of the process registry protects it.
struct look_out {
    detail::intrusive_list<registered_wait> waits;
    std::vector<crew*> crews;
    unsigned generation = 0;  ///< of the process: a child of fork() has none of these threads
    std::uint64_t numbers = 0;
    std::atomic<detail::tick_count> next{0};
    std::vector<seen_wait> before;  ///< when it began to be still
    detail::tick_count still_since = 0;
    std::uint64_t ran_ns = 0;  ///< processor time of the threads that might act
    bool has_told = false;
};

look_out& all() {
    static look_out& the_one = *new look_out;  // members may wait while the process ends
    if (std::exchange(the_one.generation, detail::fork_generation()) != detail::fork_generation()) {
        the_one.waits.forget();
        the_one.crews.clear();
    }
    return the_one;
}

std::uint64_t next_number() {
    const std::scoped_lock lock(process_registry::lock());
    return ++all().numbers;
}

}  // namespace

registered_wait::registered_wait(const detail::wait_reason& why, const end_of_wait& until,
                                 bool is_searching, const detail::frame_registers& from)
    : end(until),
      searches(is_searching),
      number(next_number()),
      member_number(tls_member != nullptr ? tls_member->number : 0),
      team_size(tls_member != nullptr && tls_member->at != nullptr ? tls_member->of->size : 0),
      m_shown(m_never, why, from) {
    const std::scoped_lock lock(process_registry::lock());
    all().waits.push_back(*this);
}

registered_wait::~registered_wait() {
    const std::scoped_lock lock(process_registry::lock());
    detail::intrusive_list<registered_wait>::erase(*this);
}

const registered_wait* wait_of(pid_t thread) noexcept {
    look_out& here = all();
    for (auto* w = here.waits.front(); w != nullptr; w = here.waits.after(*w)) {
        if (w->thread() == thread) {
            return w;
        }
    }
    return nullptr;
}

void register_crew(crew& one) {
    const std::scoped_lock lock(process_registry::lock());
    all().crews.push_back(&one);
}

void forget_crew(crew& one) noexcept {
    const std::scoped_lock lock(process_registry::lock());
    std::erase(all().crews, &one);
}

// -- which threads might act ---------------------------------------------------------------------

namespace {

std::vector<pid_t> threads_of_process() {
    std::vector<pid_t> found;
    const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir("/proc/self/task"), ::closedir);
    while (const dirent* const entry = tasks != nullptr ? ::readdir(tasks.get()) : nullptr) {
        if (entry->d_name[0] != '.') {
            found.push_back(static_cast<pid_t>(std::atol(entry->d_name)));
        }
    }
    return found;
}

/// Workers that sleep, or whose place a thread from outside has taken.
void add_resting_workers(std::set<pid_t>& to) {
    const process_registry& process = process_registry::of_process();
    for (detail::pool_entry* p = process.pools.front(); p != nullptr; p = process.pools.after(*p)) {
        for (std::uint32_t rank = 0; !p->which.inherited() && rank < p->which.size(); ++rank) {
            const detail::worker_shared& one = p->which.at(rank);
            if (one.is_asleep() || one.lends_place()) {
                to.insert(one.thread_id());
            }
        }
        if (!p->which.inherited()) {
            p->which.spares().for_each_thread_id([&to](pid_t id) { to.insert(id); });
        }
    }
}

/// The clock of a thread contains its number (clock_getcpuclockid(3)).
std::uint64_t processor_ns_of(pid_t thread) noexcept {
    constexpr unsigned k_of_thread = 6;
    constexpr std::uint64_t k_ns = 1'000'000'000;
    const auto clock = static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3U | k_of_thread);
    timespec ran{};
    return ::clock_gettime(clock, &ran) == 0 ? static_cast<std::uint64_t>(ran.tv_sec) * k_ns +
                                                   static_cast<std::uint64_t>(ran.tv_nsec)
                                             : 0;
}

/// Those that do not wait for what only others do. Requires: the process registry is locked.
std::vector<pid_t> threads_that_might_act() {
    std::set<pid_t> resting;
    const process_registry& process = process_registry::of_process();
    add_resting_workers(resting);
    for (const crew* const each : all().crews) {
        each->add_idle_threads(resting);
    }
    for (auto* h = process.harmless.front(); h != nullptr; h = process.harmless.after(*h)) {
        resting.insert(h->thread);
    }
    for (auto* o = process.outside.front(); o != nullptr; o = process.outside.after(*o)) {
        if (!o->event.is_set()) {
            resting.insert(o->thread);
        }
    }
    look_out& here = all();
    for (auto* w = here.waits.front(); w != nullptr; w = here.waits.after(*w)) {
        if (w->end()) {
            resting.erase(w->thread());
        }
    }
    std::vector<pid_t> others = threads_of_process();
    std::erase_if(others, [&resting](pid_t id) { return resting.contains(id); });
    return others;
}

// -- the look ------------------------------------------------------------------------------------

struct hang_setting {
    bool is_on = true;
    std::optional<unsigned> patience;
};

hang_setting read_setting() {
    hang_setting read;
    const std::string text = current_settings().at("hang-report").text;
    read.is_on = text != "off";
    char* end = nullptr;
    const unsigned long number = std::strtoul(text.c_str(), &end, 10);
    if (end != text.c_str() && *end == '\0') {
        read.patience = static_cast<unsigned>(number);
    }
    return read;
}

/// Of the first call: observing.cpp switches the setting off for runtimes.
const hang_setting& the_hang_setting() {
    static const hang_setting how = read_setting();
    return how;
}

std::vector<seen_wait> waits_now() {
    std::vector<seen_wait> found;
    look_out& here = all();
    for (auto* w = here.waits.front(); w != nullptr; w = here.waits.after(*w)) {
        found.push_back({w->number, w->searches ? w->looks.load(std::memory_order_relaxed) : 0});
    }
    return found;
}

bool are_same(const std::vector<seen_wait>& one, const std::vector<seen_wait>& other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [](const auto& a, const auto& b) { return a.number == b.number; });
}

/// Each that searches for tasks has done so in vain often enough since.
bool have_searched(const std::vector<seen_wait>& since) {
    look_out& here = all();
    std::size_t i = 0;
    for (auto* w = here.waits.front(); w != nullptr && i < since.size(); w = here.waits.after(*w)) {
        if (w->searches && w->looks.load(std::memory_order_relaxed) < since[i].looks + k_looks) {
            return false;
        }
        ++i;
    }
    return true;
}

std::string name_of_thread(pid_t thread) {
    std::ifstream in("/proc/self/task/" + std::to_string(thread) + "/comm");
    std::string name;
    std::getline(in, name);
    return name;
}

std::string heading(const std::vector<pid_t>& may_act, double still_ns) {
    if (may_act.empty()) {
        return waiting_calls() == 0
                   ? "quern: no member of a team can run any more, and nothing is left that could "
                     "wake one; "
                   : "quern: nothing has run for " +
                         std::to_string(static_cast<int>(still_ns * 1e-9)) +
                         " s, and only the ends of calls could wake a member; ";
    }
    return "quern: nothing has run for " + std::to_string(static_cast<int>(still_ns * 1e-9)) +
           " s, and only " + std::to_string(may_act.size()) +
           (may_act.size() == 1 ? " other thread" : " other threads") + " could wake a member; ";
}

std::string words_of(const std::vector<pid_t>& may_act) {
    std::string text;
    for (const pid_t each : may_act) {
        text +=
            "  thread " + std::to_string(each) + " '" + name_of_thread(each) + "' may wake one\n";
    }
    return text;
}

/// The heading of a report and the threads that may act, if there is a hang to tell of.
std::optional<std::pair<std::string, std::string>> find_hang(const hang_setting& how) {
    const std::scoped_lock lock(process_registry::lock());
    look_out& here = all();
    const detail::tick_count now = detail::ticks();
    std::vector<seen_wait> waits = waits_now();
    const std::vector<pid_t> may_act = threads_that_might_act();
    std::uint64_t ran = 0;
    for (const pid_t each : may_act) {
        ran += processor_ns_of(each);
    }
    const bool has_run = std::exchange(here.ran_ns, ran) + k_idle_ns < ran;
    if (has_run || !are_same(waits, here.before)) {
        here.before = std::move(waits);
        here.still_since = now;
        here.has_told = false;
        return std::nullopt;
    }
    const double still_ns = static_cast<double>(now - here.still_since) * detail::ns_per_tick();
    const bool is_certain = may_act.empty() && waiting_calls() == 0;
    const double needed = is_certain ? k_still_ns : how.patience ? 1e9 * *how.patience : -1;
    if (here.has_told || needed < 0 || still_ns < needed || !have_searched(here.before)) {
        return std::nullopt;
    }
    here.has_told = true;
    return std::pair(heading(may_act, still_ns), words_of(may_act));
}

/// The lock of the process registry is free: the report takes it.
void look_for_hangs() {
    const hang_setting& how = the_hang_setting();
    static std::atomic<detail::tick_count> next{0};
    detail::tick_count due = next.load(std::memory_order_relaxed);
    const detail::tick_count now = detail::ticks();
    if (!how.is_on || now < due ||
        !next.compare_exchange_strong(due, now + detail::ticks_of_ns(k_pause_ns),
                                      std::memory_order_relaxed)) {
        return;
    }
    if (const auto found = find_hang(how)) {
        const std::string text = found->first + task_report() + found->second +
                                 "(QUERN_HANG_REPORT=off keeps this quiet)\n";
        std::fwrite(text.data(), 1, text.size(), stderr);
    }
}

}  // namespace

void read_hang_setting() { the_hang_setting(); }

void long_wait::look(const detail::wait_reason& why, const end_of_wait& end, bool searches,
                     const detail::frame_registers& from) noexcept try {
    if (m_known == nullptr) {
        m_known = std::make_unique<registered_wait>(why, end, searches, from);
    }
    m_known->looks.fetch_add(1, std::memory_order_relaxed);
    look_for_hangs();
} catch (const std::exception&) {
    return;  // no memory for a report: the program is unaffected
}

}  // namespace quern::omp
