// SPDX-License-Identifier: BSL-1.0
// Spare threads: moving a task to one and back, and the threads themselves. A task on a spare
// thread counts as suspended for its worker, and as running for the end of the pool.
#include <quern/scheduler/detail/spare_threads.hpp>

#include <quern/base/detail/blocks.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/queued_task.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include "diagnosis/crashes/crash_parts.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

namespace quern::detail {

namespace {

constexpr wait_kind k_foreign_code{.name = "foreign code: it is in a blocking_region",
                                   .is_running = true};

/// The task that the calling spare thread runs. Its address is fixed at the thread's start: a
/// signal handler reads it, which must not allocate.
[[gnu::tls_model("initial-exec")]] constinit thread_local context* tls_spare_thread_context =
    nullptr;

// Functions of their own, so that no compiler keeps the address of a thread's errno or thread_local
// across a change of thread.
QUERN_NOINLINE int get_errno() noexcept {
    compiler_barrier();
    return errno;
}
QUERN_NOINLINE void set_errno(int value) noexcept {
    errno = value;
    compiler_barrier();
}

}  // namespace

QUERN_NOINLINE context* spare_thread_context() noexcept {
    compiler_barrier();
    return tls_spare_thread_context;
}

context* task_root() noexcept {
    context* here = current_context();
    if (here == nullptr) {
        here = spare_thread_context();
    }
    return here != nullptr ? &here->root() : nullptr;
}

context* leave_spare_thread_in_child() noexcept {
    return std::exchange(tls_spare_thread_context, nullptr);
}

class spare_thread {
public:
    explicit spare_thread(spare_threads& all) : m_all(all), m_thread([this] { main(); }) {}

    void join() { m_thread.join(); }
    std::thread::id id() const noexcept { return m_thread.get_id(); }

    /// Called on the task's stack; switches to the thread's own.
    void leave(context& task) noexcept { task.switch_to(m_native, *m_exceptions, false); }

private:
    void main() noexcept {
        pthread_setname_np(pthread_self(), "quern/spare");
        if (m_all.m_processors_known) {  // else it has the binding of its maker, a worker
            pthread_setaffinity_np(pthread_self(), sizeof m_all.m_processors, &m_all.m_processors);
        }
        const block_cache blocks;
        m_all.thread_begins();
        m_exceptions = &this_thread_exceptions();
        m_native.adopt_thread();
        lend_signal_stack(m_native.span());
        while (lent_task* const lent = m_all.next()) {
            context& task = *lent->task;
            lent->on = this;
            tls_spare_thread_context = &task;
            m_native.switch_to(task, *m_exceptions, false);
            tls_spare_thread_context = nullptr;
            m_all.task_left();
            resume(task);
            // Release: the pool may end now. After resume, so that the pool never looks quiet in
            // between.
            m_all.m_here.fetch_sub(1, std::memory_order_seq_cst);
        }
    }

    spare_threads& m_all;
    execution_stack m_native;
    exception_globals* m_exceptions = nullptr;
    std::thread m_thread;  // last member: the thread starts when the others exist
};

spare_threads::spare_threads(const std::atomic<std::uint32_t>& limit) noexcept : m_limit(limit) {
    m_processors_known =
        pthread_getaffinity_np(pthread_self(), sizeof m_processors, &m_processors) == 0;
}

spare_threads::~spare_threads() { stop(); }

void spare_threads::expect_one() {
    const std::scoped_lock lock(m_mutex);
    if (m_wanted >= m_threads.size() &&
        m_threads.size() < m_limit.load(std::memory_order_relaxed)) {
        try {
            m_threads.reserve(m_threads.size() + 1);
            m_thread_ids.reserve(m_threads.size() + 1);  // so that the thread need not allocate
            m_threads.push_back(std::make_unique<spare_thread>(*this));
        } catch (const std::exception&) {  // no thread, or no memory for one: others exist
            if (m_threads.empty()) {
                throw;
            }
        }
    }
    ++m_wanted;
    m_here.fetch_add(1, std::memory_order_seq_cst);  // pairs with the read in pool::quiet
}

void spare_threads::take(lent_task& lent) noexcept {
    {
        const std::scoped_lock lock(m_mutex);
        (m_first != nullptr ? m_last->next : m_first) = &lent;
        m_last = &lent;
    }
    m_changed.notify_one();
}

/// Called by each thread first. expect_one() has reserved memory.
void spare_threads::thread_begins() {
    const std::scoped_lock lock(m_mutex);
    m_thread_ids.push_back(static_cast<pid_t>(::syscall(SYS_gettid)));
}

lent_task* spare_threads::next() noexcept {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_first != nullptr || m_stop; });
    return m_first != nullptr ? std::exchange(m_first, m_first->next) : nullptr;
}

void spare_threads::task_left() noexcept {
    const std::scoped_lock lock(m_mutex);
    --m_wanted;
}

bool spare_threads::own_the_caller() noexcept {
    const std::scoped_lock lock(m_mutex);
    return std::any_of(m_threads.begin(), m_threads.end(),
                       [](const auto& each) { return each->id() == std::this_thread::get_id(); });
}

std::size_t spare_threads::threads() noexcept {
    const std::scoped_lock lock(m_mutex);
    return m_threads.size();
}

void spare_threads::stop() noexcept {
    {
        const std::scoped_lock lock(m_mutex);
        m_stop = true;
    }
    m_changed.notify_all();
    for (const auto& each : m_threads) {
        each->join();
    }
    m_threads.clear();
}

void lend_to_spare_thread(lent_task& lent) {
    context* const self = current_context();
    if (self == nullptr || self->root().pin != nullptr) {
        return;
    }
    worker& host = this_worker(*self);
    pool& home = host.home();
    home.spares().expect_one();
    lent.task = self;
    const int error = get_errno();
    host.give_up(*self);
    send_creators_on(*self);
    self->waits.begin({&k_foreign_code}, host.stats().since());
    context& next = host.take_context(home.stacks());
    next.reopen_for_loop();
    const auto after = [](context& left, void* p) {
        left.host().home().spares().take(*static_cast<lent_task*>(p));
    };
    host.leave_context(*self, next, {after, &lent});
    set_errno(error);
}

void return_from_spare_thread(lent_task& lent) noexcept {
    context& self = *lent.task;
    if (spare_thread_context() == nullptr) {
        returned_in_child();
    }
    const int error = get_errno();
    lent.on->leave(self);
    this_worker(self).arrived();
    self.waits.end();
    stealable_contexts::take(self);
    set_errno(error);
}

}  // namespace quern::detail
