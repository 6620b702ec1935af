// SPDX-License-Identifier: BSL-1.0
// How a worker changes stacks: the switch between contexts, its spare contexts, and the first and
// last switch, from and to the stack of its thread or of a guest.
#include <quern/scheduler/detail/worker_stacks.hpp>

#include "diagnosis/crashes/crash_parts.hpp"

#include <quern/scheduler/detail/fresh_stack.hpp>
#include <quern/scheduler/detail/pool.hpp>

#include <utility>

namespace quern::detail {

namespace {

constexpr std::size_t k_spare_contexts = 32;  // per worker; more go to the pool (guessed)

}  // namespace

worker_stacks::worker_stacks(pool& home, std::uint32_t rank) : worker_shared(home, rank) {
    m_spare.reserve(k_spare_contexts);
}

worker_stacks::~worker_stacks() {
    for (context* c : m_spare) {
        home().contexts().give(*c);
    }
}

void worker_stacks::run_thread(const stack_span& first_stack) noexcept {
    m_exceptions = &this_thread_exceptions();
    m_native.adopt_thread();
    lend_signal_stack(m_native.span());
    own_stats().begin();
    context& first = home().contexts().make(first_stack, own_stats());
    first.reopen_for_loop();
    adopt(first);
    own_stats().begun();
    m_native.switch_to(first, *m_exceptions, false);
    m_after.run(*m_left, nullptr);  // recycles the context that left the pool
    m_after = {};
    set_running(nullptr, std::memory_order_relaxed);
    quern_tls_context = nullptr;
}

void worker_stacks::begin_guest(guest_place& of) noexcept {
    of.own.adopt(stack_of_caller());
    of.sleeping = running(std::memory_order_relaxed);
    of.exceptions = std::exchange(m_exceptions, &this_thread_exceptions());
    m_guest = &of.own;
    own_stats().begin_guest();
}

void worker_stacks::run_guest_from(guest_place& of, context& first) noexcept {
    adopt(first);
    of.own.switch_to(first, *m_exceptions, false);
    m_after.run(*m_left, nullptr);  // recycles the context that was left
    m_after = {};
}

void worker_stacks::end_guest(const guest_place& of) noexcept {
    quern_tls_context = nullptr;
    set_running(of.sleeping, std::memory_order_release);  // pairs with steal_fork
    m_exceptions = of.exceptions;
    m_guest = nullptr;
    own_stats().end_guest();
}

QUERN_NOINLINE void worker_stacks::adopt(context& c) noexcept {
    c.set_host(*this);
    c.force_slow_path();
    set_running(&c, std::memory_order_release);  // pairs with steal_fork
    quern_tls_context = &c;
}

void worker_stacks::landed() noexcept {
    const after_switch after = m_after;
    m_after = {};
    if (after.run != nullptr) {
        after.run(*m_left, after.argument);
    }
}

void worker_stacks::switch_context(context& from, context& to, after_switch after) noexcept {
    leave_context(from, to, after);
    this_worker(from).arrived();  // perhaps another worker by now
}

void worker_stacks::leave_context(context& from, context& to, after_switch after) noexcept {
    m_after = after;
    m_left = &from;
    own_contexts_away().add();
    adopt(to);
    from.switch_to(to, *m_exceptions, false);
}

void worker_stacks::arrived() noexcept {
    own_contexts_away().take_back();
    landed();
    own_stats().overhead.ends(overhead_clock::next::user_code);
}

void worker_stacks::switch_away(context& from, execution_stack& to) noexcept {
    m_after = {[](context& left, void*) { this_worker(left).recycle(left); }, nullptr};
    m_left = &from;
    from.switch_to(to, *m_exceptions, true);
    invariant_broken("false", "a context that was left for good has been resumed", __FILE__,
                     __LINE__);
}

void worker_stacks::leave_for(context& from, context& to) noexcept {
    adopt(to);
    switch_away(from, to);
}

void worker_stacks::leave_pool(context& self) noexcept {
    switch_away(self, m_guest != nullptr ? *m_guest : m_native);
}

context& worker_stacks::take_context(stack_class at_least) noexcept {
    worker_stats& stats = own_stats();
    if (!m_spare.empty() && m_spare.back()->size() >= at_least) {
        context& c = *m_spare.back();
        m_spare.pop_back();
        stats.contexts_recycled.add();
        return c;
    }
    const worker_stats::kernel_call made(stats);
    return home().contexts().take(at_least, stats);
}

void worker_stacks::recycle(context& left) noexcept {
    if (m_spare.size() < k_spare_contexts && left.size() == home().stacks()) {
        m_spare.push_back(&left);
    } else {
        home().contexts().give(left);
    }
}

}  // namespace quern::detail
