// SPDX-License-Identifier: BSL-1.0
// A domain: waits, errors, the limit of live tasks. The step numbers are those of README.md.
#include <quern/dependences/detail/backpressure.hpp>
#include <quern/dependences/detail/domain_core.hpp>
#include <quern/dependences/detail/replay_run.hpp>

#include <quern/base/detail/assert.hpp>
#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/rng.hpp>
#include <quern/dependences/detail/graph_recording.hpp>
#include <quern/scheduler/detail/branches.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/task/attributes.hpp>
#include <quern/task/exceptions.hpp>
#include <quern/task/this_task.hpp>

#include "run/explain.hpp"
#include "run/limits.hpp"
#include "run/pool_look.hpp"
#include "run/ready_successors.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

namespace quern::detail {

namespace {

/// How far a creator runs ahead at first. Records of so many tasks stay in the caches of the
/// workers.
std::int64_t first_window(const pool& of) noexcept { return 256 * (std::int64_t{of.size()} + 1); }

/// Yields. True: this worker has run something else. False: it had nothing, or another worker,
/// which had nothing, has taken the calling task.
bool others_run_here() noexcept {
    const worker* const here = current_worker();
    const std::uint64_t begun = here != nullptr ? here->stats().activations.value() : 0;
    this_task::yield();
    return here != nullptr && current_worker() == here &&
           here->stats().activations.value() > begun + 1;  // the caller is one
}

/// The calling task, or null if a thread outside calls. A task that runs in the place of its waiter
/// is another one.
const task_record* calling_task() noexcept {
    context* const here = current_context();
    return here != nullptr ? &here->root().task() : nullptr;
}

}  // namespace

const wait_kind domain_core::k_wait{
    .name = "the tasks of a domain",
    .size = sizeof(domain_core),
    .look =
        [](const void* copy, wait_findings& into) noexcept {
            const auto left = static_cast<const domain_core*>(copy)->outstanding();
            std::snprintf(into.words.data(), into.words.size(), "%lld of its tasks have not ended",
                          static_cast<long long>(left));
        },
    .explain =
        [](const void*, const void* thing, explanations& into) {
            explain_domain(static_cast<const domain_core*>(thing), into);
        }};

const wait_kind domain_core::k_wait_on{
    .name = "accesses of tasks of a domain",
    .size = sizeof(access_waiter),
    .look =
        [](const void* copy, wait_findings& into) noexcept {
            const auto left = static_cast<const access_waiter*>(copy)->missing.left();
            std::snprintf(into.words.data(), into.words.size(), "%u of them have not been released",
                          left);
        },
    .explain =
        [](const void* copy, const void*, explanations& into) {
            explain_waiter(*static_cast<const access_waiter*>(copy), into);
        }};

domain_core::domain_core(pool& where) noexcept
    : domain_shared(where), m_window(first_window(where)), m_owner(calling_task()) {
    if (m_owner == nullptr) {
        m_owner_thread = std::this_thread::get_id();
    } else {
        begin_own_branches(*m_owner);
    }
    set_kind_with_own_branches(dependent_task::entry());
    set_checks(make_access_checks());
    enter_list();
}

domain_core::domain_core(dependent_task& parent) noexcept
    : domain_shared(parent), m_window(first_window(parent.home_pool())) {
    enter_list();
}

bool domain_core::owned_here() const noexcept {
    if (parent() != nullptr) {
        return dependent_task::current() == parent();
    }
    return calling_task() == m_owner &&
           (m_owner != nullptr || std::this_thread::get_id() == m_owner_thread);
}

void domain_core::refuse_stranger(const char* function) const {
    throw std::logic_error(
        std::string("quern: domain::") + function +
        "() was called by a task or thread that did not make the domain: make one "
        "there; in a dependent task quern::spawn() adds to its own");
}

// -- waiting -----------------------------------------------------------------------------------

void domain_core::wait_for_all() noexcept {
    wait_for_count();
    if (!m_open.empty()) [[unlikely]] {
        combine_here();
    }
    m_operators.clear();
    if (!m_renamed.empty()) [[unlikely]] {
        settle_renamed();
    }
    forget_watched(checks());
}

void domain_core::wait_for_count() noexcept {
    domain_waiter self;
    self.task = current_context();
    if (self.task == nullptr || live() == 0) {
        if (own_count().wait(self)) {
            self.thread.wait({&k_wait, this});
        }
    } else {
        auto publish = [this, &self](context&) { return own_count().wait(self); };
        detail::suspend(publish, {&k_wait, this});
    }
    own_spawned() = 0;
    m_own = 0;
    m_window.look_after(1);
    own_count().reset();
    if (m_replay != nullptr) {
        m_replay->wait_for_tasks();
    }
}

void domain_core::taskwait() {
    wait_for_all();
    const bool was_stopped = is_stopped();
    std::exception_ptr error = take_error();
    if (error != nullptr) {
        std::rethrow_exception(std::move(error));
    }
    if (was_stopped) {
        throw task_cancelled(task_cancelled::subject::task, this_task::name());
    }
}

void domain_core::taskwait_on(std::span<const wanted_region> wanted) {
    wait_on(wanted);
    if (is_stopped()) {
        taskwait();
    }
}

void domain_core::wait_on(std::span<const wanted_region> wanted) {
    if (m_replay != nullptr && m_replay->is_replaying()) {
        m_replay->wait_for_tasks();  // they are not in the map
    }
    access_waiter self(*this, wanted);
    std::uint32_t made = 0;
    new_links links{self, nullptr, nullptr, made};
    try {
        for (const wanted_region& each : wanted) {
            if (!each.row.is_empty) {
                if (!m_open.empty()) {
                    close_reductions(each.get());
                }
                m_map.link(each.get(), links);
            }
        }
    } catch (const std::bad_alloc&) {
        wait_for_all();  // then no link to the waiter is left
        throw;
    }
    wait_for(self, made);
}

/// Returns when all links to the waiter have been followed.
void domain_core::wait_for(access_waiter& self, std::uint32_t links) noexcept {
    self.task = current_context();
    if (links == 0) {
        return;
    }
    if (self.task == nullptr) {
        if (!self.missing.registered(links)) {
            self.thread.wait({&k_wait_on, &self});
        }
    } else {
        auto publish = [&self, links](context&) { return !self.missing.registered(links); };
        detail::suspend(publish, {&k_wait_on, &self});
    }
}

bool domain_core::parent_ended() noexcept {
    m_of_parent.parent = own_parent();
    return !own_count().wait(m_of_parent);
}

// -- the limit of live tasks -------------------------------------------------------------------

/// Looks seldom, for the count of tasks that have not ended is written by all workers.
void domain_core::make_room() noexcept {
    constexpr std::int64_t k_often = 1024;  // tasks between two looks, at most (guessed)
    constexpr std::int64_t k_seldom = 64;   // at least, before the limit
    const std::int64_t limit = live_tasks_limit();
    if (live() >= m_window.size()) {
        fit_window(limit);
    }
    if (k_counters && live() >= limit) {
        counts.throttled = counts.throttled + 1;
    }
    if (live() >= limit && !has_waited_for_room(limit / 2)) {
        m_window.look_after(limit / 16 + 1);  // at once: each new wait takes milliseconds
        return;
    }
    m_window.note_look({ticks(), spawned() - live()});
    const std::int64_t to_limit = std::max<std::int64_t>(limit - live(), 1);
    m_window.look_after(
        std::min(to_limit, std::clamp(m_window.size() - live(), k_seldom, k_often)));
}

/// If tasks are tiny, lets this worker run what is ready until half of the window is free: more
/// records would fall out of its cache. If nothing is ready here, the creator must look farther
/// ahead for tasks that do not wait. And it should when tasks are long: then a miss of the cache is
/// nothing beside a worker that lacks work while the creator runs one of them.
void domain_core::fit_window(std::int64_t limit) noexcept {
    bool fits = are_tasks_tiny();
    while (fits && live() > m_window.size() / 2) {
        const std::int64_t before = live();
        fits = others_run_here() && live() < before;  // else they may wait for the creator
    }
    if (fits) {
        m_window.shrink();
    } else {
        m_window.grow(limit);
    }
}

/// By how many the other workers have run since the last look.
bool domain_core::are_tasks_tiny() const noexcept {
    constexpr double k_tiny_ns = 4000;  // some ten misses of the cache are less than a tenth
    const double others = home_pool().knobs().active_workers.load(std::memory_order_relaxed) - 1;
    const double passed = static_cast<double>(ticks() - m_window.last_look().at) * ns_per_tick();
    const auto ended = static_cast<double>(spawned() - live() - m_window.last_look().ended);
    return others * passed <= ended * k_tiny_ns;
}

/// True when so many are left. False: nothing is left to run, so the limit gives way.
bool domain_core::has_waited_for_room(std::int64_t until) noexcept {
    return let_others_run(
        home_pool(), [](const void* of) { return static_cast<const domain_core*>(of)->live(); },
        this, until);
}

namespace {

/// Where a creator waits.
struct waiting_place {
    std::int64_t left() const { return count(of); }
    void let_run() { this_task::yield(); }
    bool sleep() {
        constexpr std::chrono::microseconds k_longest{1000};
        constexpr std::uint32_t k_parts = 16;
        // Two that look at the same intervals would see each other awake for ever.
        this_task::sleep_for(pause + pause * random.below(k_parts) / k_parts);
        const bool is_longest = pause == k_longest;
        pause = std::min(2 * pause, k_longest);
        return is_longest;
    }
    void has_moved() { pause = k_shortest; }
    bool nothing_runs() { return look.nothing_runs() && is_sure(); }
    bool only_polls() { return look.only_polls() && is_sure(); }
    bool is_sure() { return checked == nullptr || checked->may_give_way(); }

    static constexpr std::chrono::microseconds k_shortest{20};

    std::int64_t (*count)(const void* of);
    const void* of;
    pool_look look;
    wait_of_creator* checked;
    std::chrono::microseconds pause = k_shortest;
    rng random{reinterpret_cast<std::uintptr_t>(&pause)};
};

}  // namespace

bool let_others_run(pool& in, std::int64_t (*left)(const void* of), const void* of,
                    std::int64_t until, wait_of_creator* checked) noexcept {
    waiting_place here{.count = left, .of = of, .look = pool_look(in), .checked = checked};
    return wait_for_room(here, until);
}

// -- arguments ---------------------------------------------------------------------------------

void refuse_range(const volatile void* first, std::ptrdiff_t n) {
    if (n < 0) {
        throw std::invalid_argument("quern: an access to " + std::to_string(n) +
                                    " elements: the number is negative");
    }
    throw std::invalid_argument(
        "quern: an access to " + std::to_string(n) +
        (first == nullptr ? " elements at a null pointer" : " elements: more than memory has"));
}

void check_attributes(const task_attributes& wanted, const pool& of) {
    if ((wanted.how & launch::async) != launch::async) {
        throw std::invalid_argument(
            "quern: a dependent task begins when its predecessors have ended: `how` must be "
            "launch::async");
    }
    if (wanted.pool != nullptr && wanted.pool != &of) {
        throw std::invalid_argument(
            "quern: the tasks of a domain run in the pool of the domain; `pool` names another one");
    }
    if (wanted.stop.stop_possible()) {
        throw std::invalid_argument(
            "quern: a dependent task has no stop token of its own: domain::cancel() stops all");
    }
}

}  // namespace quern::detail
