// SPDX-License-Identifier: BSL-1.0
// Parts of a worker other than its loop: its thread, its queues, its stealable contexts, the switch
// of stacks.
#include <quern/scheduler/detail/worker.hpp>

#include "diagnosis/crashes/crash_parts.hpp"

#include <quern/base/detail/blocks.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/queued_task.hpp>

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

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

/// The item that the loop runs if it is reached in the child of a fork().
constinit runnable g_no_way_back([](work&) -> context* { returned_in_child(); });

/// May call only functions that are safe in a signal handler.
void begin_child() noexcept {
    process_registry::of_process().begin_child();
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

void stealable_contexts::put(context& c) noexcept {
    const std::scoped_lock lock(m_lock);
    c.m_listed_in.store(this, std::memory_order_relaxed);
    m_contexts.push_back(c);
    // seq_cst read-modify-write: ordered before the read of the gate.
    m_count.fetch_add(1, std::memory_order_seq_cst);
}

void stealable_contexts::take(context& c) noexcept {
    if (stealable_contexts* from =
            c.m_listed_in.load(std::memory_order_acquire)) {  // pairs with remove
        const std::scoped_lock lock(from->m_lock);
        if (c.m_listed_in.load(std::memory_order_relaxed) != nullptr) {
            from->remove(c);
        }
    }
}

void stealable_contexts::remove(context& c) noexcept {
    intrusive_list<context>::erase(c);
    m_count.fetch_sub(1, std::memory_order_relaxed);
    c.m_listed_in.store(nullptr, std::memory_order_release);  // the last access: pairs with take
}

fork_entry* stealable_contexts::steal(context*& from) noexcept {
    if (m_count.load(std::memory_order_seq_cst) == 0) {
        return nullptr;
    }
    const std::scoped_lock lock(m_lock);
    while (context* c = m_contexts.front()) {
        fork_entry* entry = c->steal();
        from = c;
        const bool exhausted = !c->has_public();  // for good, because its owner does not run
        if (exhausted) {
            remove(*c);
        }
        if (entry != nullptr || !exhausted) {
            return entry;
        }
    }
    return nullptr;
}

bool stealable_contexts::has_public() noexcept {
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

worker::worker(pool& home, std::uint32_t rank) : m_pool(home), m_rank(rank), m_random(rank + 1) {
    m_spare.reserve(k_spare_contexts);
    if constexpr (k_counters) {
        m_sites = std::make_unique<site_counts>();
        stats.overhead.count_sites_in(*m_sites);
    }
    if (!home.m_has_barrier) {
        queues.deque.request_work(1);  // permanent: every item becomes public at once
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
    m_thread_id.store(0, std::memory_order_relaxed);  // what waits on this pool never resumes
}

void worker::abandon_in_child(context& here) noexcept {
    here.root().m_first = &g_no_way_back;
    quern_tls_context = nullptr;
    pthread_sigmask(SIG_SETMASK, &m_pool.m_outside_signals, nullptr);
}

QUERN_NOINLINE void worker::adopt(context& c) noexcept {
    c.m_worker.store(this, std::memory_order_relaxed);
    c.force_slow_path();
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
    stats.overhead.ends(overhead_clock::next::user_code);
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

void worker::leave_pool(context& self) noexcept {
    switch_away(self, m_guest != nullptr ? *m_guest : m_native);
}

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
    if (item.rank != 0) {
        m_pool.note_placed();
        queues.ranked.push(item);
        notify_public_work();
    } else if (ready_queue* const shared = m_pool.queue_of(item.urgency)) {
        m_pool.note_placed();
        shared->push(item);
        notify_public_work();
    } else if (keeps_in_deque()) {
        queues.deque.push(&item);
        offer_if_wanted();
    } else {
        notify_work_of(m_pool.at(m_policy_queues->push(m_rank, ready_item(&item))));
    }
}

void worker::push(ready_batch& items) noexcept {
    if (items.empty()) {
        return;
    }
    if (!keeps_in_deque()) {
        while (!items.empty()) {
            push_elsewhere(items.take_first());
        }
        return;
    }
    items.reverse();  // the youngest is taken first
    while (!items.empty()) {
        queues.deque.push(&items.take_first());
    }
    offer_if_wanted();
}

void worker::take_next(runnable& item) noexcept {
    if (runnable* const other = std::exchange(m_successor, &item)) {
        push(*other);
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

void worker::put_back(runnable& item) noexcept {
    if (keeps_in_deque()) {
        queues.deque.push(&item);
        offer_if_wanted();
    } else {
        notify_work_of(m_pool.at(m_policy_queues->put_back(m_rank, ready_item(&item))));
    }
}

bool worker::take_back_elsewhere(runnable& item) noexcept {
    if (!m_policy_queues->take_back(m_rank, ready_item(&item))) {
        return false;
    }
    note_wait_of(item);
    return true;
}

/// True if others can see an item that this worker keeps by its policy. seq_cst.
bool worker::has_items() noexcept {
    return keeps_in_deque() ? queues.deque.public_size() != 0 : m_policy_queues->has_items(m_rank);
}

std::size_t worker::queued() const noexcept {
    const std::size_t kept = keeps_in_deque() ? queues.deque.size() : m_policy_queues->size(m_rank);
    return kept + queues.inbox.size() + queues.pinned.size() + queues.ranked.size() +
           queues.hinted.size();
}

void worker::drop(runnable& empty) noexcept {
    traced_task& task = m_current.load(std::memory_order_relaxed)->root().task().trace;
    const bool did_nothing = task.did_nothing;
    stats.activations.add();
    empty.run(empty);
    task.did_nothing = did_nothing;
}

/// The proof requires the order of the first two steps: README.md in this folder, "Ready deque".
void worker::answer_request() noexcept {
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
    if (m_pool.gate.load().any_idle()) {
        deque.publish_half();
        notify_public_work();
    }
}

/// Invariant: a worker that is about to sleep, or counts as asleep, has no private items.
void worker::publish_work() noexcept {
    if (m_successor != nullptr) {
        push(*std::exchange(m_successor, nullptr));
    }
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

void worker::notify_work_of(worker& holder) noexcept {
    if (&holder != this) {
        if (m_pool.wake_for(holder)) {
            stats.wakes.add();
        }
    } else if (is_stealable()) {
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
    const bool forks =
        is_stealable() && ((running != nullptr && running->has_public()) || suspended.has_public());
    return forks || has_items() || !queues.inbox.empty() || !queues.ranked.empty() ||
           !queues.hinted.empty();
}

bool worker::is_stealable() const noexcept {
    // seq_cst: a thread that lowers the number of active workers afterwards checks what the worker
    // holds (obey_throttle). A thread that gives the worker an item afterwards reads the number
    // here.
    return m_pool.policy().steals ||
           m_rank >= m_pool.knobs.active_workers.load(std::memory_order_seq_cst);
}

void worker::request_work(tick_count now) noexcept {
    queues.deque.request_work(now);
    if (context* running = m_current.load(std::memory_order_seq_cst)) {
        running->request_work(now);
    }
}

bool worker::take_over() noexcept {
    context* const running = m_current.load(std::memory_order_seq_cst);
    const bool has_forks = running != nullptr && running->take_over();
    return queues.deque.take_over() || has_forks;
}

}  // namespace quern::detail
