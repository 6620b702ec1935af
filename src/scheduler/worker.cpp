// SPDX-License-Identifier: BSL-1.0
// What a worker does besides its loop: its thread, its queues, its shelf, the change of stacks.
#include <quern/scheduler/worker.hpp>

#include "crash_parts.hpp"

#include <quern/base/blocks.hpp>
#include <quern/scheduler/pool.hpp>

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace quern::detail {

namespace {

constexpr std::size_t k_spare_contexts = 32;  // per worker; more go to the pool (guessed)

void bind_thread(int processing_unit) noexcept {
    if (processing_unit < 0) {
        return;
    }
    const auto count = static_cast<std::size_t>(processing_unit) + 1;
    if (cpu_set_t* set = CPU_ALLOC(count)) {
        CPU_ZERO_S(CPU_ALLOC_SIZE(count), set);
        CPU_SET_S(static_cast<std::size_t>(processing_unit), CPU_ALLOC_SIZE(count), set);
        // Denied binding is not an error: the worker runs wherever the system lets it.
        pthread_setaffinity_np(pthread_self(), CPU_ALLOC_SIZE(count), set);
        CPU_FREE(set);
    }
}

/// What the loop finds when it is reached in the child of a fork().
constinit runnable g_no_way_back([](work&) -> context* { returned_in_child(); });

/// Only what is safe in a signal handler may be called here.
void begin_child() noexcept {
    census::of_process().begin_child();
    context* const here = current_context();
    if (context* const task = here != nullptr ? here : leave_spare_thread_in_child()) {
        task->host().abandon_in_child(*task);
    }
}

[[maybe_unused]] const int k_registered = ::pthread_atfork(nullptr, nullptr, begin_child);

}  // namespace

void returned_in_child() noexcept {
    std::fputs(
        "quern: a task that called fork() returned in the child process, where its worker is not; "
        "end the child with exec, _exit or exit\n",
        stderr);
    std::abort();
}

void shelf::put(context& c) noexcept {
    const std::scoped_lock lock(m_lock);
    c.m_shelf.store(this, std::memory_order_relaxed);
    m_contexts.push_back(c);
    // seq_cst read-modify-write: ordered before the look at who sleeps.
    m_count.fetch_add(1, std::memory_order_seq_cst);
}

void shelf::take(context& c) noexcept {
    if (shelf* from = c.m_shelf.load(std::memory_order_acquire)) {  // pairs with remove
        const std::scoped_lock lock(from->m_lock);
        if (c.m_shelf.load(std::memory_order_relaxed) != nullptr) {
            from->remove(c);
        }
    }
}

void shelf::remove(context& c) noexcept {
    intrusive_list<context>::erase(c);
    m_count.fetch_sub(1, std::memory_order_relaxed);
    c.m_shelf.store(nullptr, std::memory_order_release);  // the last access: pairs with take
}

fork_entry* shelf::steal(context*& from) noexcept {
    if (m_count.load(std::memory_order_seq_cst) == 0) {
        return nullptr;
    }
    const std::scoped_lock lock(m_lock);
    while (context* c = m_contexts.front()) {
        fork_entry* entry = c->steal();
        from = c;
        const bool exhausted = !c->has_public();  // for good: its owner does not run
        if (exhausted) {
            remove(*c);
        }
        if (entry != nullptr || !exhausted) {
            return entry;
        }
    }
    return nullptr;
}

bool shelf::has_public() noexcept {
    if (m_count.load(std::memory_order_seq_cst) == 0) {
        return false;
    }
    const std::scoped_lock lock(m_lock);
    for (context* c = m_contexts.front(); c != nullptr; c = m_contexts.after(*c)) {
        if (c->has_public()) {
            return true;
        }
    }
    return false;
}

worker::worker(pool& home, std::uint32_t rank)
    : m_pool(home),
      m_rank(rank),
      m_keeps_in_deque(home.policy().keeps_in_deque),
      m_random(rank + 1) {
    queues.turn = rank + 1;
    m_spare.reserve(k_spare_contexts);
    if (!home.m_has_barrier) {
        queues.deque.make_hungry(1);  // for ever: everything becomes public at once
    }
}

worker::~worker() {
    for (context* c : m_spare) {
        m_pool.give_context(*c);
    }
}

void worker::start(int processing_unit) {
    const stack_span first = allocate_stack(stack_class::large);
    try {
        m_thread = std::thread([this, processing_unit, first] {  //
            thread_main(processing_unit, first);
        });
    } catch (...) {
        release_stack(first);
        throw;
    }
}

void worker::thread_main(int processing_unit, const stack_span& span) noexcept {
    constexpr std::size_t k_thread_name = 16;  // the kernel's limit
    char name[k_thread_name];
    std::snprintf(name, sizeof name, "quern/%u", m_rank);
    pthread_setname_np(pthread_self(), name);
    bind_thread(processing_unit);
    const block_cache blocks;
    m_thread_id.store(static_cast<pid_t>(::syscall(SYS_gettid)), std::memory_order_relaxed);

    m_exceptions = &this_thread_exceptions();
    m_native.adopt_thread();
    lend_signal_stack(m_native.span());
    stats.begin();
    context& first = m_pool.make_context(span, stats);
    first.reopen_for_loop();
    adopt(first);
    stats.begun();
    m_native.switch_to(first, *m_exceptions, false);
    m_after.run(*m_left, nullptr);  // recycles the context that left the pool
    m_after = {};
    m_current.store(nullptr, std::memory_order_relaxed);
    quern_tls_context = nullptr;
}

void worker::abandon_in_child(context& here) noexcept {
    here.root().m_first = &g_no_way_back;
    quern_tls_context = nullptr;
    pthread_sigmask(SIG_SETMASK, &m_pool.m_outside_signals, nullptr);
}

QUERN_NOINLINE void worker::adopt(context& c) noexcept {
    c.m_worker = this;
    c.trap();
    m_current.store(&c, std::memory_order_release);  // pairs with steal_fork
    quern_tls_context = &c;
}

void worker::landed(context&) noexcept {
    const after_switch after = m_after;
    m_after = {};
    if (after.run != nullptr) {
        after.run(*m_left, after.argument);
    }
}

void worker::switch_context(context& from, context& to, after_switch after) noexcept {
    leave_context(from, to, after);
    from.host().arrived(from);  // perhaps another worker by now
}

void worker::leave_context(context& from, context& to, after_switch after) noexcept {
    m_after = after;
    m_left = &from;
    m_away.add();
    adopt(to);
    from.switch_to(to, *m_exceptions, false);
}

void worker::arrived(context& c) noexcept {
    m_away.take_back();
    landed(c);
    stats.overhead.ends();
}

void worker::switch_away(context& from, execution_stack& to) noexcept {
    m_after = {[](context& left, void*) { left.host().recycle(left); }, nullptr};
    m_left = &from;
    from.switch_to(to, *m_exceptions, true);
    invariant_broken("false", "a context that was left for good has been resumed", __FILE__,
                     __LINE__);
}

void worker::leave_for(context& from, context& to) noexcept {
    adopt(to);
    switch_away(from, to);
}

void worker::leave_pool(context& self) noexcept { switch_away(self, m_native); }

context& worker::take_context(stack_class at_least) noexcept {
    if (!m_spare.empty() && m_spare.back()->size() >= at_least) {
        context& c = *m_spare.back();
        m_spare.pop_back();
        stats.contexts_recycled.add();
        return c;
    }
    const worker_stats::kernel_call made(stats);
    return m_pool.take_context(at_least, stats);
}

void worker::recycle(context& left) noexcept {
    if (m_spare.size() < k_spare_contexts && left.size() == m_pool.stacks()) {
        m_spare.push_back(&left);
    } else {
        m_pool.give_context(left);
    }
}

void worker::push_elsewhere(runnable& item) noexcept {
    if (ready_queue* const shared = m_pool.queue_of(item.urgency)) {
        shared->push(item);
        notify_public_work();
    } else {
        tell(m_pool.policy().push(*this, item));
    }
}

void worker::push_last(context& c) noexcept {
    c.waits.end();
    if (c.root().pin != nullptr) {
        queues.pinned.push(c);  // this worker is awake
        return;
    }
    queues.inbox.push(c);
    notify_work_of(*this);
}

void worker::put_back(runnable& item) noexcept { tell(m_pool.policy().put_back(*this, item)); }

bool worker::take_back_elsewhere(const runnable& item) noexcept {
    if (!m_pool.policy().take_back(*this, item)) {
        return false;
    }
    note_wait_of(item);
    return true;
}

void worker::drop(runnable& empty) noexcept {
    traced_task& task = m_current.load(std::memory_order_relaxed)->root().task().trace;
    const bool did_nothing = task.did_nothing;
    stats.activations.add();
    empty.run(empty);
    task.did_nothing = did_nothing;
}

/// The order of the first two is that of the proof: README.md in this folder, "Ready deque".
void worker::answer_hunger() noexcept {
    auto& deque = queues.deque;
    if (!deque.has_private()) {
        return;  // the next push comes here
    }
    if (!m_pool.m_has_barrier) {
        deque.publish_all();
        notify_public_work();
        return;
    }
    deque.arm();
    if (m_pool.gate.load().somebody_idle()) {
        deque.publish_half();
        notify_public_work();
    }
}

/// Before it sleeps, or while it counts as asleep, nothing may be private.
void worker::lay_open() noexcept {
    if (queues.deque.has_private()) {
        queues.deque.publish_all();
        notify_public_work();
    }
}

void worker::notify_public_work() noexcept {
    if (m_pool.gate.load().must_wake()) {
        const worker_stats::kernel_call waking(stats);
        if (m_pool.wake_one(m_rank)) {
            stats.wakes.add();
        }
    }
}

void worker::tell(worker* holder) noexcept {
    if (holder != nullptr) {
        notify_work_of(*holder);
    }
}

void worker::notify_work_of(worker& holder) noexcept {
    if (&holder != this) {
        if (m_pool.wake_for(holder)) {
            stats.wakes.add();
        }
    } else if (may_be_robbed()) {
        notify_public_work();
    }
}

fork_entry* worker::steal_fork(context*& from) noexcept {
    context* running = m_current.load(std::memory_order_acquire);  // pairs with adopt
    if (running != nullptr) {
        if (fork_entry* entry = running->steal()) {
            from = running;
            return entry;
        }
    }
    return suspended.steal(from);
}

bool worker::has_public_work() noexcept {
    context* running = m_current.load(std::memory_order_seq_cst);
    const bool forks = may_be_robbed() &&
                       ((running != nullptr && running->has_public()) || suspended.has_public());
    return forks || m_pool.policy().has_items(*this) || !queues.inbox.empty();
}

bool worker::may_be_robbed() const noexcept {
    // seq_cst: whoever lowers the number looks afterwards at what the worker holds (obey_throttle),
    // and whoever gives it something looks afterwards here.
    return m_pool.policy().steals ||
           m_rank >= m_pool.knobs.active_workers.load(std::memory_order_seq_cst);
}

void worker::make_hungry(tick_count now) noexcept {
    queues.deque.make_hungry(now);
    if (context* running = m_current.load(std::memory_order_seq_cst)) {
        running->make_hungry(now);
    }
}

bool worker::take_over() noexcept {
    context* const running = m_current.load(std::memory_order_seq_cst);
    const bool has_forks = running != nullptr && running->take_over();
    return queues.deque.take_over() || has_forks;
}

}  // namespace quern::detail
