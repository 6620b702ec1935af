// SPDX-License-Identifier: BSL-1.0
// The life of a pool: start and end of its workers, spare stacks, and the check that all is quiet.
// Delivery of work is in deliver.cpp, victims and nodes are in wiring.cpp.
#include <quern/scheduler/detail/pool.hpp>

#include <quern/base/detail/assert.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace quern::detail {

namespace {

/// How often the end of a pool checks whether all is quiet, in case it misses the notification.
constexpr auto k_quiet_interval = std::chrono::milliseconds(10);

constexpr const char* k_inherited =
    "was started before fork() and has no workers in the child process; start a runtime there";

/// Signals that a worker does not block: those raised by its own instructions, and a profiler's.
constexpr int k_workers_signals[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL,
                                     SIGTRAP, SIGSYS, SIGABRT, SIGPROF};

/// Threads made during its life leave all other signals to the host's threads. A handler does not
/// fit on the small stack of a task, and a host may wait for signals itself.
class signals_blocked {
public:
    explicit signals_blocked(sigset_t& before) noexcept : m_before(before) {
        sigset_t blocked;
        sigfillset(&blocked);
        for (const int signal : k_workers_signals) {
            sigdelset(&blocked, signal);
        }
        pthread_sigmask(SIG_BLOCK, &blocked, &m_before);
    }
    signals_blocked(const signals_blocked&) = delete;
    signals_blocked& operator=(const signals_blocked&) = delete;
    ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &m_before, nullptr); }

private:
    sigset_t& m_before;
};

}  // namespace

pool::pool(pool_description description)
    : coroutines(std::min(description.workers, k_max_workers)),
      m_name(std::move(description.name)),
      m_policy(description.policy != nullptr ? description.policy : &scheduling_policies().front()),
      m_stacks(description.stacks),
      m_hang_report(description.hang_report),
      m_has_barrier(description.workers == 1 || std_atomics::has_heavy_barrier()),
      m_node_numbers(std::move(description.nodes)) {
    if (description.workers == 0 || description.workers > k_max_workers) {
        throw std::invalid_argument("quern: pool '" + m_name +
                                    "': workers = " + std::to_string(description.workers) +
                                    ", accepted are 1 to " + std::to_string(k_max_workers));
    }
    knobs.active_workers.store(description.workers, std::memory_order_relaxed);
    m_workers.reserve(description.workers);
    for (std::uint32_t rank = 0; rank < description.workers; ++rank) {
        m_workers.push_back(std::make_unique<worker>(*this, rank));
    }
    wire(description);
    start_workers(description.processing_units);
    m_entry.emplace(*this);
}

void pool::start_workers(const std::vector<int>& units) {
    const signals_blocked for_workers(m_outside_signals);
    std::uint32_t started = 0;
    const auto undo = [&] {  // running workers must end before their pool does
        stop();
        for (std::uint32_t rank = 0; rank < started; ++rank) {
            m_workers[rank]->join();
        }
        m_workers.clear();
        release_contexts();
    };
    const std::string total = std::to_string(size());
    const auto fault = [&](const char* what) {
        return "quern: pool '" + m_name + "': worker " + std::to_string(started + 1) + " of " +
               total + " cannot be started: " + what;
    };
    try {
        for (; started < size(); ++started) {
            m_workers[started]->start(started < units.size() ? units[started] : -1);
        }
    } catch (const std::system_error& error) {
        undo();
        throw std::system_error(error.code(), fault("no thread (ulimit -u, pids.max, ulimit -v)"));
    } catch (const std::bad_alloc&) {
        undo();
        throw std::system_error(std::make_error_code(std::errc::not_enough_memory),
                                fault("no address space for its stack (ulimit -v)"));
    }
}

void pool::refuse_inherited() const {
    throw std::logic_error("quern: pool '" + m_name + "' " + k_inherited);
}

void pool::die_inherited() const noexcept {
    std::fprintf(stderr, "quern: pool '%s' %s\n", m_name.c_str(), k_inherited);
    std::abort();
}

void pool::stop() noexcept {
    m_stop.store(true, std::memory_order_seq_cst);
    wake_all();
}

bool pool::finish() noexcept {
    m_entry.reset();
    stop();
    for (const auto& w : m_workers) {
        w->join();
    }
    spares.stop();
    m_ended = true;
    return away() == 0;
}

pool::~pool() {
    if (!m_ended) {
        wait_until_quiet();
        finish();
    }
    // A thread may still be leaving inject() after the last worker has run its item.
    while (m_injecting.load(std::memory_order_acquire) != 0) {
        std::this_thread::yield();
    }
    m_workers.clear();
    release_contexts();
}

void pool::release_contexts() noexcept {
    for (auto& list : m_contexts) {
        while (context* const c = list.back()) {
            intrusive_list<context>::erase(*c);
            const stack_span span = c->span();
            c->forget();
            release_stack(span);
        }
    }
}

worker_totals pool::totals() const noexcept {
    worker_totals sum;
    for (const auto& w : m_workers) {
        sum += w->stats.read();
    }
    return sum;
}

context& pool::take_context(stack_class at_least, worker_stats& stats) noexcept {
    {
        const std::scoped_lock lock(m_contexts_lock);
        auto& list = m_contexts[static_cast<std::size_t>(at_least)];
        if (context* const idle = list.back()) {
            intrusive_list<context>::erase(*idle);
            stats.contexts_recycled.add();
            return *idle;
        }
    }
    try {
        return make_context(allocate_stack(at_least), stats);
    } catch (const std::bad_alloc&) {
        invariant_broken("allocate_stack",
                         "no address space is left for another task's stack (ulimit -v, cgroup, "
                         "vm.overcommit_memory, vm.max_map_count)",
                         __FILE__, __LINE__);
    }
}

context& pool::make_context(const stack_span& span, worker_stats& stats) noexcept {
    stats.contexts_made.add();
    context& made = context::make(span);
    context* before = m_youngest.load(std::memory_order_relaxed);
    do {
        made.m_made_before = before;
    } while (!m_youngest.compare_exchange_weak(before, &made,
                                               std::memory_order_release,  // with youngest_context
                                               std::memory_order_relaxed));
    return made;
}

void pool::give_context(context& idle) noexcept {
    const std::scoped_lock lock(m_contexts_lock);
    m_contexts[static_cast<std::size_t>(idle.size())].push_back(idle);
}

std::uint64_t pool::activations() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& w : m_workers) {
        sum += w->stats.activations.value(std::memory_order_acquire);
    }
    return sum;
}

std::uint64_t pool::contexts_away() const noexcept {
    std::uint64_t sum = 0;  // sum of numbers, some of which are negative
    for (const auto& w : m_workers) {
        sum += w->m_away.value();
    }
    return sum;
}

std::uint64_t pool::coroutines_away() const noexcept {
    std::uint64_t sum = m_coroutines_away.load(std::memory_order_relaxed);
    for (const auto& w : m_workers) {
        sum += w->m_coroutines_away.value();
    }
    return sum;
}

/// Coroutines suspended on outside threads are only counted: they are few.
std::int32_t pool::coroutine_leaves(const runnable& who, const coroutine_marks& marks,
                                    const wait_reason& why) noexcept {
    worker* const here = current_worker();
    if (here == nullptr) {
        m_coroutines_away.fetch_add(1, std::memory_order_relaxed);
        return coroutine_notes::k_nowhere;
    }
    here->m_coroutines_away.add();
    return coroutines.begin(here->rank(), here->m_note_turn, who, marks, why, ticks());
}

void pool::coroutine_is_back() noexcept {
    if (worker* const here = current_worker()) {
        here->m_coroutines_away.take_back();
    } else {
        m_coroutines_away.fetch_sub(1, std::memory_order_relaxed);
    }
}

std::size_t pool::queued_by_policy() const noexcept {
    return m_policy_queues != nullptr ? m_policy_queues->shared_size() : 0;
}

/// Counts no worker twice while it changes between asleep and throttled.
bool pool::all_asleep() const noexcept {
    const std::uint32_t throttled = m_throttled.load(std::memory_order_seq_cst);
    return gate.load().sleeping + throttled == size() &&
           m_throttled.load(std::memory_order_seq_cst) == throttled;
}

bool pool::all_idle() const noexcept {
    const auto now = gate.load();
    return now.searching + now.sleeping + m_throttled.load(std::memory_order_relaxed) >= size();
}

bool pool::at_rest(bool with_timers, bool with_operations) noexcept {
    const auto holds_work = [](const auto& w) {
        return !w->queues.pinned.empty() || w->has_public_work();
    };
    const std::uint64_t before = activations();  // acquire: read before the gate
    // A timer, an operation, or a task returning from a spare thread puts its item into a queue
    // before it stops being counted. So the queues are checked last.
    return all_asleep() && !spares.any() && (with_timers || timers.empty()) &&
           (with_operations || pollers.none()) && !has_shared_work() &&
           std::none_of(m_workers.begin(), m_workers.end(), holds_work) && all_asleep() &&
           activations() == before;
}

void pool::wait_until_quiet() noexcept {
    while (!wait_until_quiet_for(k_quiet_interval)) {
    }
}

bool pool::wait_until_quiet_for(std::chrono::nanoseconds time) noexcept {
    const auto deadline = timer::clock::now() + time;
    m_quiet_wanted.store(true, std::memory_order_seq_cst);
    for (;;) {
        const std::uint32_t seen = m_quiet_word.load(std::memory_order_seq_cst);
        if (quiet()) {
            return true;
        }
        if (timer::clock::now() >= deadline) {
            return false;
        }
        std_atomics::futex_wait_for(m_quiet_word, seen, k_quiet_interval);
    }
}

void pool::notify_quiet(std::uint32_t sleeping) noexcept {
    if (m_quiet_wanted.load(std::memory_order_seq_cst) &&
        sleeping + m_throttled.load(std::memory_order_seq_cst) >= size()) {
        m_quiet_word.fetch_add(1, std::memory_order_seq_cst);
        std_atomics::futex_wake(m_quiet_word, 1);
    }
}

}  // namespace quern::detail
