// SPDX-License-Identifier: BSL-1.0
// The thread of a worker, and its own end of its queues.
#include <quern/scheduler/detail/worker.hpp>

#include "worker/waking.hpp"

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
#include <utility>

namespace quern::detail {

namespace {

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
        this_worker(*task).abandon_in_child(*task);
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

worker::worker(pool& home, std::uint32_t rank)
    : worker_stacks(home, rank), m_selector(*this), m_thief(*this), m_idle(*this) {
    if (!home.has_barrier()) {
        own_deque().request_work(1);  // permanent: every item becomes public at once
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
    std::snprintf(name, sizeof name, "quern/%u", rank());
    pthread_setname_np(pthread_self(), name);
    bind_thread(processing_unit);
    const block_cache blocks;
    set_thread_id(static_cast<pid_t>(::syscall(SYS_gettid)));
    run_thread(span);
    set_thread_id(0);  // what waits on this pool never resumes
}

void worker::abandon_in_child(context& here) noexcept {
    here.root().set_first_item(g_no_way_back);
    quern_tls_context = nullptr;
    pthread_sigmask(SIG_SETMASK, &home().outside_signals(), nullptr);
}

void worker::push_elsewhere(runnable& item) noexcept {
    if (item.has_place()) {
        home().note_placed();
        ranked().push(item);
        notify_public_work();
    } else if (keeps_in_deque()) {
        own_deque().push(&item);
        offer_if_wanted();
    } else {
        notify_work_of(home().at(kept_by_policy()->push(rank(), ready_item(&item))));
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
        own_deque().push(&items.take_first());
    }
    offer_if_wanted();
}

void worker::push_ranked(ready_batch& items) noexcept {
    if (!items.empty()) {
        home().note_placed();
        ranked().push(items);
        notify_public_work();
    }
}

void worker::take_next(runnable& item) noexcept {
    if (runnable* const other = std::exchange(m_successor, &item)) {
        push(*other);
    }
}

void worker::push_last(context& c) noexcept {
    c.waits.end();
    if (c.root().pin != nullptr) {
        own_pinned().push(c);  // this worker is awake
        return;
    }
    mailbox().push(c, key_of(priority::normal));
    notify_work_of(*this);
}

void worker::put_back(runnable& item) noexcept {
    if (keeps_in_deque()) {
        own_deque().push(&item);
        offer_if_wanted();
    } else {
        notify_work_of(home().at(kept_by_policy()->put_back(rank(), ready_item(&item))));
    }
}

bool worker::take_back_elsewhere(runnable& item) noexcept {
    if (!kept_by_policy()->take_back(rank(), ready_item(&item))) {
        return false;
    }
    note_wait_of(item);
    return true;
}

void worker::drop(runnable& empty) noexcept {
    traced_task& task = running(std::memory_order_relaxed)->root().task().trace;
    const bool did_nothing = task.did_nothing;
    own_stats().activations.add();
    empty.run(empty);
    task.did_nothing = did_nothing;
}

/// Puts all but the first into the own queues. Requires: `taken` is not empty. Wakes no worker: the
/// caller is searching, and the last worker that stops searching wakes another one. Exception: an
/// item that the policy assigns to another worker; that worker is notified.
work* worker::keep_rest(ready_list& taken) noexcept {
    work* const first = taken.pop_front().get();
    while (const ready_item item = taken.pop_front()) {
        if (keeps_in_deque()) {
            own_deque().push(item.get());
            offer_if_wanted();
            continue;
        }
        worker_shared& holder = home().at(kept_by_policy()->push(rank(), item));
        if (&holder != this) {
            notify_work_of(holder);
        }
    }
    return first;
}

/// The proof requires the order of the first two steps: ../README.md, "Ready deque".
void worker::answer_request() noexcept {
    worker_deque& deque = own_deque();
    if (!deque.has_private()) {
        return;  // the next push comes here
    }
    if (!home().has_barrier()) {
        deque.publish_all();
        notify_public_work();
        return;
    }
    deque.arm();
    if (home().gate().load().any_idle()) {
        deque.publish_half();
        wake_for_items(*this);
    }
}

/// Invariant: a worker that is about to sleep, or counts as asleep, has no private items.
void worker::publish_work() noexcept {
    if (m_successor != nullptr) {
        push(*std::exchange(m_successor, nullptr));
    }
    if (own_deque().has_private()) {
        own_deque().publish_all();
        notify_public_work();
    }
}

void worker::notify_public_work() noexcept {
    if (home().gate().load().must_wake()) {
        const worker_stats::kernel_call waking(own_stats());
        if (home().wake_one(rank())) {
            own_stats().wakes.add();
        }
    }
}

void worker::notify_work_of(worker_shared& holder) noexcept {
    if (&holder != this) {
        if (home().wake_for(holder)) {
            own_stats().wakes.add();
        }
    } else if (is_stealable()) {
        notify_public_work();
    }
}

}  // namespace quern::detail
