// SPDX-License-Identifier: BSL-1.0
// Contexts: creation, start, the slow paths of fork and join, suspension and resumption.
// User code enters here through fork_join, future::get and the like; the loop is in loop.cpp.
#include <quern/scheduler/detail/context.hpp>

#include "worker/waking.hpp"

#include <quern/base/detail/assert.hpp>
#include <quern/scheduler/detail/branches.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/scheduler/held_locks.hpp>

#include <algorithm>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

namespace quern::detail {

constinit thread_local context* quern_tls_context = nullptr;
/// Only its address counts.
const task_description g_creator_aside{};

namespace {

/// Pushes that stay on the slow path, visible to thieves, when a context begins to fork coarsely.
constexpr std::uint32_t k_eager_pushes = 16;

/// Pushes farther apart than this are coarse: they can afford the slow path (20 ns). (guessed)
constexpr double k_coarse_ns = 500;

/// In the place of a time: the push before took the fast path, and left none.
constexpr tick_count k_not_timed = ~tick_count{0};

/// Rounds that a parent waits for a stolen child before it suspends: about half a microsecond. A
/// suspension costs as much, and the task then resumes on the child's worker, away from its data
/// (docs/design/0018-contiguous-loops.md).
constexpr int k_join_spins = 100;

/// A low mark above every address: the next child goes to a fresh stack.
const void* const k_always_low =
    reinterpret_cast<const void*>(std::numeric_limits<std::uintptr_t>::max());

constexpr wait_kind k_join_wait{.name = "a forked child that another worker runs",
                                .is_passing = true,
                                .is_for_task = [](const void*) noexcept { return true; }};

constexpr std::size_t k_slot_bytes = sizeof(void*);
static_assert(std::is_pointer_v<fork_slot>);

fork_slot* first_slot(void* room) noexcept {
    constexpr std::size_t k_first = (sizeof(context) + k_slot_bytes - 1) / k_slot_bytes;
    return static_cast<fork_slot*>(room) + k_first;
}

fork_slot* last_slot(void* room) noexcept {
    return static_cast<fork_slot*>(room) + k_room / k_slot_bytes - 2;
}

context* run_resumed(work& item) {
    auto& c = static_cast<context&>(static_cast<runnable&>(item));
    return &c;
}

}  // namespace

context::context(const stack_span& span) noexcept
    : fork_deque(first_slot(span.room), last_slot(span.room)),
      runnable(run_resumed, false),
      execution_stack(span) {
    set_low_mark();
}

context& context::make(const stack_span& span) noexcept {
    static_assert(k_block % k_room_offset == 0, "see holder()");
    static_assert(sizeof(context) < k_room / 8, "the room is for slots, not for the header");
    return *new (span.room) context(span);
}

context* context::from(work& item) noexcept {
    return item.run == run_resumed ? static_cast<context*>(static_cast<runnable*>(&item)) : nullptr;
}

void context::set_low_mark() noexcept { m_low_mark = span().low + stack_reserve(size()); }

void context::reopen_for_loop(work* first) noexcept {
    reopen();
    m_body = nullptr;
    m_below.store(nullptr, std::memory_order_relaxed);
    m_root.store(this, std::memory_order_relaxed);
    m_first = first;
    link = nullptr;
    creators_aside = 0;
    restart(enter, this);
}

void context::reopen_for_call(void (*body)(context&, void*), void* argument) noexcept {
    reopen();
    m_body = body;
    m_body_argument = argument;
    restart(enter, this);
}

void context::enter(void* self) noexcept {
    auto& here = *static_cast<context*>(self);
    here.entered();
    this_worker(here).landed();
    if (here.m_body != nullptr) {
        here.m_body(here, here.m_body_argument);
    }
    worker::run_loop(here);
}

/// A push takes this path when a thief has asked, which says nothing about how coarse the work is.
/// So it is the distance of two slow pushes in turn that decides.
void context::push_trapped() noexcept {
    QUERN_DEBUG_ASSERT(current_context() == this,
                       "a fork on the stack of another task, or in a blocking_region");
    worker& host = this_worker(*this);
    if (full()) {
        m_low_mark = k_always_low;
    }
    if (has_own_branches(root().task())) [[unlikely]] {
        // Not private, so that the pop is slow too; and the next push.
        host.show_running(*this);  // before publishing, and the gate
        force_slow_path();
        publish_all();
        host.notify_public_work();
        return;
    }
    if (host.home().size() == 1 || !host.home().policy().steals) {
        arm();
        return;
    }
    const bool is_timed = m_last_slow_path != k_not_timed;
    if (is_timed && ticks() - m_last_slow_path > ticks_of_ns(k_coarse_ns)) {
        m_eager_pushes = k_eager_pushes;
    }
    host.show_running(*this);  // before publishing, and the gate
    if (m_eager_pushes != 0) {
        --m_eager_pushes;
        force_slow_path();
        publish_all();
        host.notify_public_work();
    } else {
        answer_request();
        if (is_timed) {
            m_last_slow_path = k_not_timed;  // two in turn: fine work
            return;
        }
        force_slow_path();  // the next one tells how far apart they are
    }
    m_last_slow_path = ticks();  // after the slow path, which thieves can make long
}

void context::answer_request() noexcept {
    arm();
    if (host().home().gate().load().any_idle()) {
        publish_half();
        wake_for_entries(this_worker(*this), *this);
    }
}

bool context::join(fork_slot* place) noexcept {
    fork_entry& child = **place;
    if (reclaim(place)) {
        return true;
    }
    for (int i = 0; i < k_join_spins && !child.joined.done(); ++i) {
        std_atomics::pause();
    }
    if (!child.joined.done()) {
        auto publish = [&child](context& self) { return child.joined.register_waiter(self); };
        suspend(publish, {&k_join_wait, &child});
    }
    reset(place);
    return false;
}

bool context::publish() noexcept {
    publish_all();
    if (!has_public()) {
        return false;
    }
    this_worker(*this).list_stealable(*this);
    return true;
}

/// The fresh context has at least the same size class: a task that asked for a larger stack has
/// larger frames.
void context::call_on_fresh(void (*body)(void* argument), void* argument) noexcept {
    struct call {
        void (*body)(void*);
        void* argument;
        context* caller;
    };
    worker& host = this_worker(*this);
    if (publish()) {
        host.notify_work_of(host);
    }
    call what{body, argument, this};
    context& fresh = host.take_context(std::max(size(), host.home().stacks()));
    fresh.last_as(*this);
    fresh.m_below.store(this, std::memory_order_relaxed);
    fresh.m_root.store(&root(), std::memory_order_relaxed);  // avoids a walk over all levels
    fresh.reopen_for_call(
        [](context& here, void* p) {
            auto& c = *static_cast<call*>(p);
            c.body(c.argument);
            this_worker(here).leave_for(here, *c.caller);
        },
        &what);
    host.switch_context(*this, fresh, {});
    stealable_contexts::take(*this);
    set_low_mark();
}

void suspend(bool (*publish)(context& self, void* argument), void* argument,
             const wait_reason& why) noexcept {
    struct request {
        bool (*publish)(context&, void*);
        void* argument;
    };
    QUERN_DEBUG_ASSERT(current_context() != nullptr,
                       "suspend() was called by a thread, or in a blocking_region");
    context& self = *current_context();
    worker& host = this_worker(self);
    host.give_up(self);
    if constexpr (k_check_held_locks) {
        check_held_locks(self, why);
    }
    const tick_count since = host.stats().since();
    self.waits.begin(why, since);
    request what{publish, argument};
    context& next = host.next_context(self);
    const auto after = [](context& left, void* p) {
        // Once publish has returned true, `left` may run elsewhere and this request may be gone.
        const request r = *static_cast<request*>(p);
        if (!r.publish(left, r.argument)) {
            resume(left);
        }
    };
    host.switch_context(self, next, {after, &what});
    self.waits.end();
    stealable_contexts::take(self);
    worker& now = this_worker(self);
    if (const hooks* h = now.home().hooks()) [[unlikely]] {
        h->waited(*h, now, why, since);
    }
}

void run_before_self(runnable& item) noexcept {
    context& self = *current_context();
    worker& host = this_worker(self);
    host.give_up(self);
    send_creators_on(self);
    context& next = host.take_context(host.home().stacks());
    next.reopen_for_loop(&item);
    host.switch_context(self, next, {[](context& left, void*) { resume(left); }, nullptr});
    stealable_contexts::take(self);
}

/// The fresh context is no smaller than the caller's, as in call_on_fresh.
void run_beside_self(runnable& first, creator_link& link) noexcept {
    context& self = *current_context();
    worker& host = this_worker(self);
    if (host.home().hooks() != nullptr) [[unlikely]] {
        host.give_up(self);
    } else if (self.publish()) {
        host.notify_work_of(host);
    }
    link.creator = &self;
    context& fresh = host.take_context(std::max({first.stack, host.home().stacks(), self.size()}));
    self.call_beside(fresh, first, link);
    stealable_contexts::take(self);
}

/// Calls on the other stack instead of switching, so that the processor predicts the return. After
/// a switch there and back it would mispredict the returns that follow.
void context::call_beside(context& fresh, runnable& first, creator_link& aside) noexcept {
    worker& host = this_worker(*this);
    const bool calls = can_call();
    if (calls) {
        fresh.reopen();  // no frame needs to be prepared
        fresh.m_body_argument = &first;
    } else {
        fresh.reopen_for_call(
            [](context& here, void* p) {
                context& creator = *here.link->creator;
                if (worker::run_beside(here, *static_cast<runnable*>(p))) {
                    this_worker(here).leave_for(here, creator);
                }
            },
            &first);
    }
    fresh.m_below.store(nullptr, std::memory_order_relaxed);
    fresh.m_root.store(&fresh, std::memory_order_relaxed);
    fresh.m_first = nullptr;
    fresh.link = &aside;
    fresh.creators_aside = root().creators_aside + 1;
    if (!calls) {
        host.switch_context(*this, fresh, {});
    } else if (!host.call_context(*this, fresh, call_entry, aside.is_over)) {
        this_worker(*this).arrived();  // perhaps on another worker by now
    }
    if (aside.is_over && host.home().hooks(std::memory_order_relaxed) != nullptr) [[unlikely]] {
        host.resumes(*this);
    }
}

void context::call_entry(void* self) noexcept {
    auto& here = *static_cast<context*>(self);
    if (!worker::run_beside(here, *static_cast<runnable*>(here.m_body_argument))) {
        worker::run_loop(here);
    }
}

context* take_creator(context& leaving) noexcept {
    creator_link* const link = std::exchange(leaving.root().link, nullptr);
    if (link == nullptr) {
        return nullptr;
    }
    const wait_kind* const why = leaving.waits.kind();
    link->waits_for_task =
        why != nullptr && why->is_for_task != nullptr && why->is_for_task(leaving.waits.thing());
    return link->creator;
}

/// Also those that are aside for that creator, which may change its worker now: a creator resumes
/// on its own worker only. Each is unlinked before the one that it waits for can run.
void send_creators_on(context& leaving) noexcept {
    context* creator = take_creator(leaving);
    while (creator != nullptr) {
        context* const outer = take_creator(*creator);
        resume(*creator);
        creator = outer;
    }
}

void resume(context& suspended) noexcept {
    suspended.waits.end();  // its wait is over, though it may be queued for long
    pool& home = suspended.host().home();
    if (worker_shared* const only = suspended.root().pin) {
        home.make_ready_on(*only, suspended);
    } else {
        home.make_ready(suspended);
    }
}

void resume_in_turn(context& suspended) noexcept {
    suspended.waits.end();
    pool& home = suspended.host().home();
    if (worker_shared* const only = suspended.root().pin) {
        home.make_ready_on(*only, suspended);
    } else {
        home.inject(suspended);
    }
}

}  // namespace quern::detail
