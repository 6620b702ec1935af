// SPDX-License-Identifier: BSL-1.0
// Regions: how a team begins and ends, and how its threads wait for the next region. Protocol:
// ../README.md.
#include "core/team.hpp"

#include "core/accesses.hpp"
#include "core/cancellation.hpp"
#include "core/crew.hpp"
#include "core/observing.hpp"
#include "core/shares.hpp"
#include "core/stacks.hpp"
#include "core/waiting.hpp"
#include "tools/tools.hpp"

#include <quern/base/detail/atomics.hpp>
#include <quern/scheduler/detail/pool.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

namespace quern::omp {

constinit thread_local member* tls_member = nullptr;

namespace {

/// Members of regions in progress beyond each region's caller, for OMP_THREAD_LIMIT.
std::atomic<unsigned> g_busy_threads{0};

/// Takes so many of the threads that OMP_THREAD_LIMIT leaves, or fewer. By one exchange: members
/// that begin inner regions at the same time must not count the same threads as free.
unsigned take_threads(unsigned wanted) noexcept {
    const unsigned most = the_settings().thread_limit - 1;
    unsigned busy = g_busy_threads.load(std::memory_order_relaxed);
    unsigned taken = 0;
    do {
        taken = std::min(wanted, busy < most ? most - busy : 0);
    } while (!g_busy_threads.compare_exchange_weak(busy, busy + taken, std::memory_order_relaxed));
    return taken;
}

void give_threads(unsigned taken) noexcept {
    g_busy_threads.fetch_sub(taken, std::memory_order_relaxed);
}

/// A team of one: the first team of a thread, or a region that has only its caller.
struct lone_team {
    lone_team() noexcept {
        whole.members = &only;
        whole.shares = &shared;
        only.of = &whole;
        only.current = &only.implicit;
    }
    team whole;
    member only;
    share shared;
};

changed_values& copy_values(member& owner, const control_values& from) {
    auto* const copy = new changed_values{from, owner.own_values};
    owner.own_values = copy;
    return *copy;
}

void free_own_values(member& of) noexcept {
    while (changed_values* const each = of.own_values) {
        of.own_values = each->next;
        delete each;
    }
}

void preset(team& of, const first_share& with) noexcept {
    share& first = share_of(of, 1);
    first.construct = 1;
    set_up(of, first, with);
    for (unsigned i = 0; i < of.size; ++i) {
        of.members[i].constructs = 1;
        of.members[i].sharing = &first;
        of.members[i].trip = of.members[i].first = of.members[i].last = 0;
        of.members[i].batch = of.members[i].batch_limit = 1;
        of.members[i].batch_time = 0;
    }
}

/// The values of the members: those of the creator, but for what OMP_NUM_THREADS says of the level.
const control_values* values_within(team& of) noexcept {
    const auto& by_level = the_settings().threads_by_level;
    const control_values* const outside = of.creator->current->values;
    if (of.active_level >= by_level.size() || by_level[of.active_level] == outside->threads) {
        return outside;
    }
    changed_values& inner = copy_values(of.members[0], *outside);
    inner.threads = by_level[of.active_level];
    return &inner;
}

void enter_alone(lone_team& alone, member& creator) noexcept {
    alone.whole.level = creator.of->level + 1;
    alone.whole.active_level = creator.of->active_level;
    alone.whole.creator = &creator;
    alone.only.implicit.values = creator.current->values;
    tls_member = &alone.only;
}

void run_alone(member& creator, void (*body)(void*), void* argument,
               const first_share* begins_with) noexcept {
    lone_team alone;
    if (begins_with != nullptr) {
        preset(alone.whole, *begins_with);
    }
    enter_alone(alone, creator);
    {
        const tools::implicit_scope told(alone.only, body, argument);
        body(argument);
        const tools::sync_scope barrier(tools::sync::barrier_parallel, nullptr);
    }
    tls_member = &creator;
    free_own_values(alone.only);
}

/// A region that does not lie within one function.
struct open_region : lone_team {
    open_region* outer = nullptr;
};
constinit thread_local open_region* tls_open_region = nullptr;

void reset_member(member& one, const control_values* values) noexcept {
    one.implicit.values = values;
    one.implicit.group = nullptr;
    one.current = &one.implicit;
    one.sharing = nullptr;
    one.constructs = 0;
}

}  // namespace

namespace {

struct first_team {
    lone_team alone;
    control_values values = the_settings().initial;
};

/// Frees the first team of a thread that ends; that of the main thread stays, since destructors of
/// static objects may still ask for it.
struct first_team_at_thread_end {
    first_team* own = nullptr;
    ~first_team_at_thread_end() {
        if (own != nullptr && ::getpid() != ::gettid()) {
            tools::first_team_ends();
            free_own_values(own->alone.only);
            tls_member = nullptr;
            delete own;
        }
    }
};

}  // namespace

member& first_member_of_thread() {
    auto* const own = new first_team;
    own->alone.only.implicit.values = &own->values;
    thread_local first_team_at_thread_end at_end;
    at_end.own = own;
    tls_member = &own->alone.only;
    tools::first_team_begins();
    return *tls_member;
}

void begin_lone_region() {
    auto* const made = new open_region;
    member& creator = this_member();
    if (tools::is_active()) [[unlikely]] {
        tools::lone_region_begins();
    }
    made->outer = std::exchange(tls_open_region, made);
    enter_alone(*made, creator);
}

void end_lone_region() noexcept {
    open_region* const ended = tls_open_region;
    if (ended == nullptr || ended->whole.members != tls_member) {
        fatal("a region of one thread ends that has not begun");
    }
    tls_open_region = ended->outer;
    tls_member = ended->whole.creator;
    free_own_values(ended->only);
    delete ended;
    if (tools::is_active()) [[unlikely]] {
        tools::lone_region_ends();
    }
}

namespace {

/// The member has run the body of its region.
void run_end(member& one) noexcept {
    const tools::sync_scope told(tools::sync::barrier_parallel, nullptr);
    if (one.implicit.accesses != nullptr) {
        wait_until(one, eligible::all, k_tasks_wait, [&one] { return one.implicit.is_alone(); });
        delete_accesses(one.implicit);
    }
    wait_at_end(one);
}

}  // namespace

void run_member(member& one) noexcept {
    team& of = *one.of;
    member* const before = std::exchange(tls_member, &one);
    const tools::implicit_scope told(one, of.body, of.argument);
    of.body(of.argument);
    run_end(one);
    free_own_values(one);
    tls_member = before;
}

void wait_at_barrier(member& here) noexcept {
    team& of = *here.of;
    if (of.workers == nullptr) {
        of.work_is_cancelled.store(false, std::memory_order_relaxed);
        return;  // its tasks have run when they were made
    }
    if (!here.implicit.is_alone()) {
        wait_until(here, eligible::all, k_tasks_wait, [&here] { return here.implicit.is_alone(); });
    }
    const std::uint32_t epoch = of.epoch.load(std::memory_order_relaxed);
    if (of.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == of.size) {
        of.arrived.store(0, std::memory_order_relaxed);
        of.work_is_cancelled.store(false, std::memory_order_relaxed);
        of.epoch.store(epoch + 1, std::memory_order_seq_cst);
        wake_sleepers(of);
        return;
    }
    wait_until(here, eligible::all, k_barrier_wait,
               [&of, epoch] { return of.epoch.load(std::memory_order_acquire) != epoch; });
}

unsigned size_of_region(member& here, unsigned wanted) noexcept {
    const control_values& values = *here.current->values;
    const settings& all = the_settings();
    unsigned size = wanted != 0 ? wanted : values.threads;
    if (size == 1 || here.of->active_level >= values.most_active_levels) {
        return 1;
    }
    if (values.adjusts_threads) {
        size = std::min(size, all.processors);
    }
    return std::clamp(size, 1U, k_most_threads);
}

namespace {

/// A team of one in whose tasks calls may wait: its tasks must not run within their creator.
bool defers_alone(const member& creator) noexcept {
    return creator.of->creator == nullptr && has_calls_that_wait() && !tools::is_active();
}

}  // namespace

void run_region(void (*body)(void*), void* argument, unsigned wanted,
                const first_share* begins_with) noexcept {
    member& creator = this_member();
    if (tools::is_active() && body != tools::run_told_body) [[unlikely]] {
        tools::run_told_region(body, argument, wanted, begins_with);
        return;
    }
    const unsigned more = take_threads(size_of_region(creator, wanted) - 1);
    const unsigned size = more + 1;
    crew* const helpers = more != 0 || defers_alone(creator) ? take_crew(size) : nullptr;
    if (helpers == nullptr) {
        give_threads(more);
        run_alone(creator, body, argument, begins_with);
        return;
    }
    helpers->set_size(size);
    team& of = helpers->whole();
    of.level = creator.of->level + 1;
    of.active_level = creator.of->active_level + (more != 0 ? 1 : 0);
    of.creator = &creator;
    of.body = body;
    of.argument = argument;
    reset_cancellation(of);
    const void* const site = std::exchange(creator.next_site, nullptr);
    of.site = site != nullptr ? site : place_of(body);
    const control_values* const values = values_within(of);
    for (unsigned i = 0; i < size; ++i) {
        reset_member(of.members[i], values);
    }
    for (std::uint64_t i = 0; i < k_shares; ++i) {
        of.shares[i].construct = 0;
        of.shares[i].left = size;
    }
    if (begins_with != nullptr) {
        preset(of, *begins_with);
    }
    helpers->run();
    give_threads(more);
    give_crew(*helpers);
}

control_values& change_values(member& here) noexcept {
    if (here.of->creator == nullptr && !here.current->is_explicit) {
        // The first team of a thread: the values are its own, and no task runs that shares them.
        return const_cast<control_values&>(*here.current->values);
    }
    control_values& own = copy_values(here, *here.current->values);
    here.current->values = &own;
    return own;
}

}  // namespace quern::omp
