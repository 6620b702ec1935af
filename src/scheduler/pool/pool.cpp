// SPDX-License-Identifier: BSL-1.0
// The life of a pool: start and end of its workers, and the check that all is quiet.
// Delivery of work is in deliver.cpp, victims and nodes are in wiring.cpp.
#include <quern/scheduler/detail/pool.hpp>

#include <quern/base/detail/assert.hpp>

#include <algorithm>
#include <mutex>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace quern::detail {

namespace {

/// How often the end of a pool checks whether all is quiet, in case it misses the notification.
constexpr auto k_quiet_interval = std::chrono::milliseconds(10);

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

pool::pool(pool_description description) : pool_shared(description) {
    workers().reserve(description.workers);
    for (std::uint32_t rank = 0; rank < description.workers; ++rank) {
        workers().push_back(std::make_unique<worker>(*this, rank));
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
            workers()[rank]->join();
        }
        workers().clear();
        contexts().release_all();
    };
    const std::string total = std::to_string(size());
    const auto fault = [&](const char* what) {
        return "quern: pool '" + name() + "': worker " + std::to_string(started + 1) + " of " +
               total + " cannot be started: " + what;
    };
    try {
        for (; started < size(); ++started) {
            workers()[started]->start(started < units.size() ? units[started] : -1);
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

void pool::stop() noexcept { tell_to_end(); }

bool pool::finish() noexcept {
    m_entry.reset();
    stop();
    for (const auto& w : workers()) {
        w->join();
    }
    spares().stop();
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
    workers().clear();
    kept_by_policy().reset();  // queues of a program may ask its host while they end
    contexts().release_all();
}

bool pool::at_rest(bool with_timers, bool with_operations) noexcept {
    const auto holds_work = [](const auto& w) { return w->has_pinned() || w->has_public_work(); };
    const std::uint64_t before = activations();  // acquire: read before the gate
    // A timer, an operation, or a task returning from a spare thread puts its item into a queue
    // before it stops being counted. So the queues are checked last.
    return all_asleep() && !spares().any() && (with_timers || time().timers().empty()) &&
           (with_operations || time().pollers().none()) && !has_shared_work() &&
           std::none_of(workers().begin(), workers().end(), holds_work) && all_asleep() &&
           activations() == before;
}

void pool::wait_until_quiet() noexcept {
    while (!wait_until_quiet_for(k_quiet_interval)) {
    }
}

bool pool::wait_until_quiet_for(std::chrono::nanoseconds time) noexcept {
    const auto deadline = timer::clock::now() + time;
    rest().want();
    for (;;) {
        const std::uint32_t seen = rest().word();
        if (quiet()) {
            return true;
        }
        if (timer::clock::now() >= deadline) {
            return false;
        }
        rest().wait(seen, k_quiet_interval);
    }
}

}  // namespace quern::detail
