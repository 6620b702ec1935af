// SPDX-License-Identifier: BSL-1.0
// The threads of teams. Protocol: ../README.md.
#include "core/crew.hpp"

#include "core/hangs.hpp"
#include "core/observing.hpp"
#include "core/stacks.hpp"
#include "core/waiting.hpp"
#include "tools/tools.hpp"

#include <quern/base/detail/atomics.hpp>
#include <quern/scheduler/detail/queued_task.hpp>

#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <utility>

namespace quern::omp {

namespace {

/// How long a member spins and yields before it sleeps. On a processor of its own: some 250 us,
/// several times what a wake-up takes (50 to 70 us on a virtual machine): members that sleep wake
/// one another too late for the next region, so that all sleep in each.
constexpr unsigned k_pauses = 6000;
constexpr unsigned k_yields = 20;
/// Where there are more members than processors, they give them to one another.
constexpr unsigned k_crowded_pauses = 20;
constexpr unsigned k_crowded_yields = 20;
constexpr unsigned k_active_pauses = 2'000'000;

void choose_patience(team& of) noexcept {
    const settings& all = the_settings();
    const bool is_crowded = of.size > all.processors;
    of.pauses = all.waits_passively  ? 0
                : is_crowded         ? k_crowded_pauses
                : all.waits_actively ? k_active_pauses
                                     : k_pauses;
    of.yields = all.waits_passively ? 0 : is_crowded ? k_crowded_yields : k_yields;
}

detail::pool_description description_of(unsigned workers) {
    detail::pool_description made;
    made.name = "openmp";
    made.workers = workers;
    made.stacks = stack_class::large;
    return made;
}

}  // namespace

crew::post::post() noexcept : runnable(run_post) { stack = stack_class::large; }
crew::visit::visit(crew& where) noexcept : runnable(run_visit), of(where) {
    stack = stack_class::large;
}

crew::crew(unsigned capacity)
    : m_capacity(capacity),
      m_members(std::make_unique<member[]>(capacity)),
      m_shares(std::make_unique<share[]>(k_shares)),
      m_runtime(make_observed_runtime(capacity)) {
    m_pool = m_runtime != nullptr ? &m_runtime->default_pool().get()
                                  : &m_own_pool.emplace(description_of(capacity));
    m_team.members = m_members.get();
    m_team.shares = m_shares.get();
    m_team.workers = m_pool;
    for (unsigned i = 0; i < capacity; ++i) {
        m_members[i].of = &m_team;
        m_members[i].number = i;
        m_members[i].random += i * 0x9E3779B97F4A7C15U;
    }
    if (m_runtime == nullptr && !tools::is_active() && has_calls_that_wait()) {
        m_stacks = std::make_unique<member_stacks[]>(capacity);
        for (unsigned i = 0; i < capacity; ++i) {
            m_members[i].stacks = &m_stacks[i];
        }
    }
    m_team.size = capacity;
    choose_patience(m_team);
    for (unsigned i = 1; i < capacity; ++i) {
        auto& one = *m_posts.emplace_back(std::make_unique<post>());
        one.of = this;
        one.number = i;
        one.named = "member " + std::to_string(i) + " of an OpenMP team";
        one.name = one.named.c_str();
        m_pool->make_ready(one);
    }
    // Each worker but one has a post that never returns; only then does none search any more, and
    // the one that is left goes to sleep.
    while (m_posted.load(std::memory_order_acquire) + 1 != capacity) {
        ::sched_yield();
    }
    register_crew(*this);
}

crew::~crew() {
    forget_crew(*this);
    m_ends.store(true, std::memory_order_seq_cst);
    for (unsigned i = 1; i < m_capacity; ++i) {
        begin_region(m_members[i]);
    }
}

detail::context* crew::run_post(detail::work& item) noexcept {
    auto& self = static_cast<post&>(static_cast<detail::runnable&>(item));
    if (detail::context* const larger = detail::begin_task(self)) {
        return larger;
    }
    crew& of = *self.of;
    of.serve(of.m_members[self.number]);
    detail::count_task();
    return nullptr;
}

detail::context* crew::run_visit(detail::work& item) noexcept {
    auto& self = static_cast<visit&>(static_cast<detail::runnable&>(item));
    if (detail::context* const larger = detail::begin_task(self)) {
        return larger;
    }
    team& of = self.of.m_team;
    member& first = of.members[0];
    if (detail::worker* const where = detail::current_worker(); where != first.at) {
        self.of.wait_for_members();
        first.at = where;
    }
    first.at->stats().is_now(
        worker_phase::managing);  // for reports: the thread is not the worker's
    for (unsigned i = 1; i < of.size; ++i) {
        self.of.begin_region(of.members[i]);
    }
    run_member(first);
    detail::count_task();
    return nullptr;
}

/// Returns when all threads have left the region before, in whose last wait they read the team.
void crew::wait_for_members() const noexcept {
    const errno_kept kept;
    for (unsigned i = 1; i < m_team.size; ++i) {
        const member& one = m_members[i];
        const std::uint32_t begun = one.region.load(std::memory_order_relaxed);
        while (one.served.load(std::memory_order_acquire) != begun) {
            ::sched_yield();
        }
    }
}

/// A thread that is slow to leave the region before may take a task of the next one: it must be a
/// member of that, with the same number.
void crew::set_size(unsigned size) noexcept {
    if (size != m_team.size) {
        wait_for_members();
        m_team.size = size;
        choose_patience(m_team);
    }
}

void crew::begin_region(member& one) noexcept {
    one.region.fetch_add(1, std::memory_order_seq_cst);
    if (one.sleeps.load(std::memory_order_seq_cst)) {
        detail::std_atomics::futex_wake(one.region, 1);
    }
}

void crew::serve(member& one) noexcept {
    one.at = detail::current_worker();
    if (tools::is_active()) [[unlikely]] {
        tools::worker_begins();
    }
    m_posted.fetch_add(1, std::memory_order_release);  // pairs with the constructor
    for (std::uint32_t seen = 0; wait_for_region(one, seen); ++seen) {
        if (is_observed()) [[unlikely]] {
            run_observed_member(one);
        } else {
            detail::current_context()->root().task().site = one.of->site;  // for reports
            run_member(one);
        }
    }
    if (tools::is_active()) [[unlikely]] {
        tools::worker_ends();
    }
}

void crew::add_idle_threads(std::set<pid_t>& to) const {
    for (unsigned i = 1; i < m_capacity; ++i) {
        const member& one = m_members[i];
        if (one.sleeps.load(std::memory_order_acquire) &&
            one.region.load(std::memory_order_acquire) ==
                one.served.load(std::memory_order_acquire)) {
            to.insert(one.at->thread_id());
        }
    }
}

/// False: the crew ends. The member announces its sleep and looks once more; who begins a region
/// writes that first and then looks who sleeps. So one of them sees the other.
bool crew::wait_for_region(member& one, std::uint32_t seen) noexcept {
    const auto has_begun = [&one, seen] {
        return one.region.load(std::memory_order_acquire) != seen;
    };
    const errno_kept kept;
    const noted_wait noted(nullptr);
    one.served.store(seen, std::memory_order_release);
    for (unsigned attempt = 0; !has_begun(); ++attempt) {
        if (spins(one, attempt)) {
            continue;
        }
        one.sleeps.store(true, std::memory_order_seq_cst);
        one.at->stats().is_now(worker_phase::idle);  // for reports: it runs no task
        if (!has_begun()) {
            detail::std_atomics::futex_wait(one.region, seen);
        }
        one.at->stats().is_now(worker_phase::running);
        one.sleeps.store(false, std::memory_order_relaxed);
    }
    return !m_ends.load(std::memory_order_acquire);
}

void crew::run() noexcept {
    visit here(*this);
    if (is_observed()) [[unlikely]] {
        here.site = m_team.site;
        here.name = k_region_name;
    }
    // Within a region of another crew the caller is a worker of that one.
    detail::context* const outside = std::exchange(detail::quern_tls_context, nullptr);
    while (!m_pool->run_as_guest(here)) {
        ::sched_yield();  // the worker that lends its place is not asleep yet
    }
    detail::quern_tls_context = outside;
}

namespace {

/// The crews of a thread: one for each region in which it is member 0 at the same time.
class crews_of_thread {
public:
    crew& take(unsigned size) {
        if (m_depth == m_crews.size()) {
            m_crews.push_back(nullptr);
        }
        crew*& place = m_crews[m_depth];
        if (place != nullptr && (place->is_inherited() || place->capacity() < size)) {
            dismiss(std::exchange(place, nullptr));
        }
        if (place == nullptr) {
            place = new crew(size);
        }
        ++m_depth;
        return *place;
    }
    void give() noexcept { --m_depth; }

    void dismiss_all() noexcept {
        for (crew*& each : m_crews) {
            dismiss(std::exchange(each, nullptr));
        }
    }

private:
    /// The threads of one that is inherited are not here, and those of one that is used are busy.
    static void dismiss(crew* one) noexcept {
        if (one != nullptr && !one->is_inherited() && !one->is_used) {
            delete one;
        }
    }

    std::vector<crew*> m_crews;
    std::size_t m_depth = 0;
};

constinit thread_local crews_of_thread* tls_crews = nullptr;

/// Ends the crews of a thread that ends. Those of the main thread stay: regions may run while the
/// process ends, in exit() within a region or in destructors of static objects.
struct crews_at_thread_end {
    bool is_armed = false;
    ~crews_at_thread_end() {
        if (is_armed && ::getpid() != ::gettid()) {
            crews_of_thread* const own = std::exchange(tls_crews, nullptr);
            own->dismiss_all();
            delete own;
        }
    }
};

crews_of_thread& my_crews() {
    if (tls_crews == nullptr) {
        tls_crews = new crews_of_thread;
        thread_local crews_at_thread_end at_end;
        at_end.is_armed = true;
    }
    return *tls_crews;
}

}  // namespace

crew* take_crew(unsigned size) noexcept {
    try {
        crew& taken = my_crews().take(size);
        taken.is_used = true;
        return &taken;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "quern: a team of %u runs on one thread: %s\n", size, error.what());
        return nullptr;
    }
}

void give_crew(crew& used) noexcept {
    used.is_used = false;
    tls_crews->give();
}

void dismiss_crews_of_thread() noexcept {
    if (tls_crews != nullptr) {
        tls_crews->dismiss_all();
    }
}

}  // namespace quern::omp
