// SPDX-License-Identifier: BSL-1.0
// Decisions about child tasks. The usual one is a lookup of the kind and of the worker's cell, and
// a look at the worker's own queue and at the gate of the idle. Times are looked at rarely, and
// only changes of a kind's mode are logged: on a fresh stack, for the task's own may be nearly used
// up.
#include "inlining/inlining.hpp"

#include "inlining/child_kinds.hpp"
#include "inlining/inlining_costs.hpp"

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/text.hpp>
#include <quern/scheduler/detail/overhead_clock.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/site_words.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/task/detail/enough_stack.hpp>
#include <quern/task/detail/inlining.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

namespace quern::adaptation::detail {

namespace {

using quern::detail::child_kind;
using quern::detail::k_timed_kind;
using quern::detail::pool;
using quern::detail::tick_count;
using quern::detail::worker;

/// Tasks in the worker's own queue that others may take, from which on it inlines. Two, so that a
/// thief finds one while the owner takes the other. (measured: docs/design/0026-inlining.md)
constexpr std::uint32_t k_reserve = 2;

/// Creators aside at which the rule quern spawns. Contexts lie at the same place of their stacks,
/// so more of them than a cache set has ways displace each other (docs/design/0026-inlining.md:
/// with 6 a child of a recursion costs what a spawned one does, with 12 twice as much).
constexpr std::uint32_t k_most_aside = 6;

constexpr std::uint32_t k_most_between_looks = 256;  ///< decisions of a worker about one kind

constinit std::atomic<inlining_rule> g_rule{inlining_rule::never};
constinit std::atomic<bool> g_applies{true};
constinit std::atomic<std::uint32_t> g_generation{0};

inlining_rule present_rule() noexcept { return g_rule.load(std::memory_order_relaxed); }

std::uint32_t number_in(child_kind kind) noexcept { return kind & ~k_timed_kind; }

const char* word_of(child_mode how) noexcept {
    return how == child_mode::spawned ? "spawned" : "inlined";
}

std::string subject_of(const kind_record& which) {
    const quern::detail::site_words words = quern::detail::words_of_site(
        which.name != nullptr ? which.name : "", which.site, false, nullptr);
    std::string text = words.name;
    text += words.location.empty() ? "" : "@" + words.location;
    if (which.instance != 0) {
        const std::uint64_t number = ~which.instance;  // as task_instance has it
        constexpr std::uint64_t k_most_number = std::uint64_t{1} << 62;
        std::array<char, 40> words_of_object{};
        std::snprintf(words_of_object.data(), words_of_object.size(), "object 0x%llx",
                      static_cast<unsigned long long>(which.instance));
        text += " instance ";
        text += number < k_most_number ? std::to_string(number) : words_of_object.data();
    }
    return text;
}

/// On a stack of its own: names are read from debug information.
QUERN_COLD void log_change(const kind_record& which, child_mode before, child_mode after,
                           const std::string& inputs, const std::string& why) noexcept {
    auto body = [&]() noexcept {
        try {
            log({.policy = "inlining-" + std::string(name_of(present_rule())),
                 .subject = subject_of(which),
                 .before_text = word_of(before),
                 .after_text = word_of(after),
                 .inputs = inputs,
                 .why = why,
                 .applied = g_applies.load(std::memory_order_relaxed)});
        } catch (const std::exception&) {  // no memory for a message
        }
    };
    quern::detail::on_fresh_stack(body);
}

QUERN_COLD void log_mean(const kind_record& which, child_mode before, child_mode after,
                         double mean_ns, std::uint64_t of, const std::string& why) noexcept {
    try {
        log_change(which, before, after,
                   "mean " + quern::detail::duration_words(mean_ns) + " of " + std::to_string(of),
                   why);
    } catch (const std::exception&) {
    }
}

/// Forgets the state of an earlier rule. Requires: the lock of the kind.
void renew(kind_record& which) noexcept {
    const std::uint32_t now = g_generation.load(std::memory_order_relaxed);
    if (which.generation.exchange(now, std::memory_order_relaxed) == now) {
        return;
    }
    which.quern = {};
    which.baseline = {};
    which.adaptive.reset();
    which.times.store(0, std::memory_order_relaxed);
    which.ticks.store(0, std::memory_order_relaxed);
    const bool is_inlined = present_rule() == inlining_rule::always &&
                            !which.has_suspended.load(std::memory_order_relaxed);
    which.mode.store(is_inlined ? child_mode::inlined : child_mode::spawned,
                     std::memory_order_relaxed);
}

bool is_of_earlier_rule(const kind_record& which) noexcept {
    return which.generation.load(std::memory_order_relaxed) !=
           g_generation.load(std::memory_order_relaxed);
}

// -- the rule quern ----------------------------------------------------------------------------

struct times {
    double mean_ns = 0;  ///< exclusive; of an instance inclusive
    std::uint64_t samples = 0;
};

times times_of_site(pool& home, std::uint16_t number) noexcept {
    double calls = 0;
    double pieces = 0;
    double ticks = 0;
    times found;
    for (std::uint32_t rank = 0; rank < home.size(); ++rank) {
        const quern::detail::site_counts* const sites = home.at(rank).sites();
        if (const auto* const tally = sites != nullptr ? sites->at(number) : nullptr) {
            calls += static_cast<double>(static_cast<std::uint64_t>(tally->calls));
            pieces += static_cast<double>(static_cast<std::uint64_t>(tally->pieces));
            ticks += static_cast<double>(static_cast<std::uint64_t>(tally->time));
            found.samples += tally->samples;
        }
    }
    if (calls <= 0) {
        return {};
    }
    const double net = ticks - quern::detail::overhead_clock::reading() * pieces;
    found.mean_ns = std::max(net, 0.0) / calls * quern::detail::ns_per_tick();
    return found;
}

times times_of_instance(const kind_record& which) noexcept {
    const std::uint64_t count = which.times.load(std::memory_order_relaxed);
    const auto ticks = static_cast<double>(which.ticks.load(std::memory_order_relaxed));
    return count == 0
               ? times()
               : times{ticks / static_cast<double>(count) * quern::detail::ns_per_tick(), count};
}

std::string reason_for(child_mode mode, const quern_rule::costs& costs) {
    using quern::detail::duration_words;
    return mode == child_mode::spawned
               ? "long against the " + duration_words(costs.task_ns) + " that a task costs"
               : "short, and a task costs " + duration_words(costs.task_ns) + ", an inlined one " +
                     duration_words(costs.inlined_ns) + "; while no worker lacks tasks";
}

QUERN_COLD void look_at_times(worker& here, kind_record& which, kind_cell& cell) noexcept {
    cell.interval = std::min(2 * cell.interval, k_most_between_looks);
    cell.left = cell.interval;
    if (present_rule() != inlining_rule::quern ||
        which.has_suspended.load(std::memory_order_relaxed)) {
        return;
    }
    const times seen =
        which.instance != 0 ? times_of_instance(which) : times_of_site(here.home(), which.number);
    const quern_rule::costs costs = present_costs(here.home());
    child_mode before{};
    child_mode after{};
    {
        const std::scoped_lock guard(which.lock);
        before = which.quern.mode();
        which.quern.update(seen.mean_ns, seen.samples, costs);
        after = which.quern.mode();
        which.mode.store(after, std::memory_order_relaxed);
    }
    if (before != after) {
        try {
            log_mean(which, before, after, seen.mean_ns, seen.samples, reason_for(after, costs));
        } catch (const std::exception&) {
        }
    }
}

/// Whether the rule quern inlines a short child: not too deep, and other workers have enough to
/// take: the own queue holds a few tasks, and no worker looks for work. A request for work is
/// answered, for inlining neither pushes nor pops.
bool may_inline_short(worker& here) noexcept {
    if (quern::detail::current_context()->root().creators_aside >= k_most_aside) {
        return false;
    }
    const pool& home = here.home();
    if (home.size() == 1 || !home.policy().steals ||
        home.knobs().active_workers.load(std::memory_order_relaxed) == 1) {
        return true;
    }
    const bool has_deque = here.keeps_in_deque();
    if (has_deque) {
        here.offer_if_wanted();
    }
    const std::size_t own = has_deque ? here.deque().size() : here.queued();
    return own >= k_reserve && !home.gate().load().any_idle();
}

// -- what tasks call ---------------------------------------------------------------------------

/// Of the kinds that the rule quern spawns, only one child in so many looks at the times.
constexpr std::uint32_t k_passed_over = 16;
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint32_t tls_turn = 0;

child_kind kind_of_child(const void* site, const char* name, std::uint64_t instance) noexcept {
    const inlining_rule rule = present_rule();
    if (rule == inlining_rule::quern && instance == 0) {
        const std::uint32_t kind = kind_of(site, name, instance);
        const bool is_spawned =
            record_of(kind).mode.load(std::memory_order_relaxed) == child_mode::spawned;
        return is_spawned && ++tls_turn % k_passed_over != 0 ? quern::detail::k_no_kind : kind;
    }
    const bool is_timed = rule == inlining_rule::baseline || rule == inlining_rule::adaptive ||
                          rule == inlining_rule::quern;
    return kind_of(site, name, instance) | (is_timed ? k_timed_kind : 0);
}

bool inlines(worker& here, child_kind kind) noexcept {
    const std::uint32_t number = number_in(kind);
    kind_record& which = record_of(number);
    if (is_of_earlier_rule(which)) [[unlikely]] {
        const std::scoped_lock guard(which.lock);
        renew(which);
    }
    kind_cell* const cell = kind_cells::at(here, number);
    if (cell != nullptr && --cell->left == 0) [[unlikely]] {
        look_at_times(here, which, *cell);
    }
    const child_mode how = which.mode.load(std::memory_order_relaxed);
    if (how == child_mode::spawned ||
        (how == child_mode::inlined_if_fed && !may_inline_short(here)) ||
        !g_applies.load(std::memory_order_relaxed)) {
        return false;
    }
    if (cell != nullptr) {
        cell->tally->inlined = cell->tally->inlined + 1;
    }
    return true;
}

QUERN_COLD void has_left(child_kind kind, bool waits_for_task) noexcept {
    kind_record& which = record_of(number_in(kind));
    if (waits_for_task || which.has_suspended.exchange(true, std::memory_order_relaxed)) {
        return;
    }
    child_mode before{};
    {
        const std::scoped_lock guard(which.lock);
        before = which.mode.exchange(child_mode::spawned, std::memory_order_relaxed);
    }
    log_change(which, before, child_mode::spawned, "",
               "it has suspended when it was inlined; spawned from now on");
}

/// What a rule with times of its own has made of one.
struct change {
    child_mode before = child_mode::spawned;
    child_mode after = child_mode::spawned;
    double mean_ns = 0;
    std::uint64_t executions = 0;
    double threshold_us = 0;
};

/// Requires: the lock of the kind. Throws std::bad_alloc.
change tell_rule(kind_record& which, double ns) {
    if (present_rule() == inlining_rule::baseline) {
        baseline_rule& rule = which.baseline;
        const child_mode before = rule.mode();
        rule.add(ns);
        return {before, rule.mode(), rule.mean_ns(), rule.executions(), 0};
    }
    if (which.adaptive == nullptr) {
        which.adaptive = std::make_unique<adaptive_rule>();
    }
    adaptive_rule& rule = *which.adaptive;
    const child_mode before = rule.mode();
    rule.add(ns);
    return {before, rule.mode(), rule.mean_ns(), rule.executions(), rule.threshold_us()};
}

/// The search of the rule `adaptive` needs room: on enough stack.
void took(child_kind kind, tick_count time) noexcept {
    kind_record& which = record_of(number_in(kind));
    const inlining_rule rule = present_rule();
    if (rule == inlining_rule::quern) {
        which.times.fetch_add(1, std::memory_order_relaxed);
        which.ticks.fetch_add(time, std::memory_order_relaxed);
        return;
    }
    if (rule != inlining_rule::baseline && rule != inlining_rule::adaptive) {
        return;
    }
    change made;
    const auto tell = [&]() noexcept {
        const std::scoped_lock guard(which.lock);
        renew(which);
        try {
            made = tell_rule(which, static_cast<double>(time) * quern::detail::ns_per_tick());
        } catch (const std::exception&) {  // no memory: as before
            return;
        }
        if (!which.has_suspended.load(std::memory_order_relaxed)) {
            which.mode.store(made.after, std::memory_order_relaxed);
        }
    };
    if (rule == inlining_rule::adaptive) {
        quern::detail::on_enough_stack(tell);
    } else {
        tell();
    }
    if (made.before != made.after && !which.has_suspended.load(std::memory_order_relaxed)) {
        try {
            log_mean(
                which, made.before, made.after, made.mean_ns, made.executions,
                rule == inlining_rule::baseline
                    ? "the published thresholds are 350 and 500 us"
                    : "the threshold is " + quern::detail::rounded(made.threshold_us) + " ± 75 us");
        } catch (const std::exception&) {
        }
    }
}

constexpr quern::detail::inlining_rules k_rules{kind_of_child, inlines, has_left, took};

}  // namespace

void use_inlining(inlining_rule rule, bool always, mode what) noexcept {
    if (rule == inlining_rule::never || what == mode::off) {
        quern::detail::install_inlining(nullptr, false);
        return;
    }
    if (g_rule.exchange(rule, std::memory_order_relaxed) != rule) {
        g_generation.fetch_add(1, std::memory_order_relaxed);
    }
    g_applies.store(what == mode::on, std::memory_order_relaxed);
    quern::detail::install_inlining(&k_rules, always);
}

}  // namespace quern::adaptation::detail
