// SPDX-License-Identifier: BSL-1.0
// A poller for each pool, so that its workers look for the ends of operations, and so that a
// runtime does not end before the operations of its tasks.
#include "progress/pools.hpp"

#include "library/fortran.hpp"
#include "library/mechanism.hpp"
#include "library/windows.hpp"
#include "progress/engine.hpp"

#include <quern/base/detail/spin_lock.hpp>
#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/observers.hpp>
#include <quern/scheduler/runtime.hpp>

#include <array>
#include <memory>
#include <mutex>

namespace quern::mpi::detail {

using quern::detail::pool;
using quern::detail::tick_count;
using quern::detail::ticks;

namespace {

tick_count ticks_of(std::chrono::microseconds time) noexcept {
    return quern::detail::ticks_of_ns(1e3 * static_cast<double>(time.count()));
}

}  // namespace

pool_poller::pool_poller(const pool_ref& of, std::chrono::microseconds eager)
    : m_linger(ticks_of(eager)),
      m_asks(of, {.name = "MPI",
                  .ask = [this] { return ask(); },
                  .tell = [this] { return engine::of_process().describe_outstanding(this); },
                  .eager = eager}) {}

/// The first operation after a pause wakes a worker. Without the hold, each message of an exchange
/// would do so.
void pool_poller::begins() noexcept {
    m_last.store(ticks(), std::memory_order_relaxed);
    m_asks.expect(m_lingers.exchange(true, std::memory_order_relaxed) ? 1 : 2);
}

poll_result pool_poller::ask() noexcept {
    const bool has_ended = engine::of_process().look();
    if (!has_ended && ticks() - m_last.load(std::memory_order_relaxed) > m_linger &&
        m_lingers.exchange(false, std::memory_order_relaxed)) {
        m_asks.settle();
    }
    return has_ended       ? poll_result::progress
           : has_windows() ? poll_result::soon
                           : poll_result::idle;
}

namespace {

struct watched_pool {
    std::atomic<pool*> which{nullptr};
    pool_poller* asks = nullptr;  ///< owned
};

/// Tasks of a pool beyond these wait as threads outside do, and block their workers.
/// Not destroyed by exit(): MPI calls that for an error which ends the job, also while a poller is
/// asked, whose destructor would wait for that to end.
constinit std::array<watched_pool, 64> g_watched{};
quern::detail::spin_lock g_lock;  ///< for changes of g_watched

class pool_watch final : public runtime_observer {
public:
    void check(const settings&) override {}

    void started(runtime& which, const settings& chosen) noexcept override {
        obey_mechanism(chosen);
        expect_fortran_calls();
        engine::of_process().runtime_begins();
        for (const pool_ref& each : which.pools()) {
            if (each.get().is_for_communication()) {
                continue;  // its worker waits as threads outside do
            }
            auto made = std::make_unique<pool_poller>(each, eager_time(chosen));
            const std::scoped_lock lock(g_lock);
            for (watched_pool& slot : g_watched) {
                if (slot.which.load(std::memory_order_relaxed) == nullptr) {
                    slot.asks = made.release();
                    slot.which.store(&each.get(), std::memory_order_release);  // pairs: poller_here
                    break;
                }
            }
        }
    }

    void ends(runtime& which) noexcept override {
        for (const pool_ref& each : which.pools()) {
            const std::scoped_lock lock(g_lock);
            for (watched_pool& slot : g_watched) {
                if (slot.which.load(std::memory_order_relaxed) == &each.get()) {
                    slot.which.store(nullptr, std::memory_order_relaxed);
                    // If it is not, the process ends, but not its operations.
                    if (slot.asks->is_idle()) {
                        delete slot.asks;
                    }
                    slot.asks = nullptr;
                }
            }
        }
        engine::of_process().runtime_ends();
    }
};

constinit pool_watch g_pool_watch;

}  // namespace

pool_poller* poller_here() noexcept {
    const quern::detail::context* const task = quern::detail::current_context();
    if (task == nullptr) {
        return nullptr;
    }
    const pool* const home = &task->host().home();
    for (watched_pool& slot : g_watched) {
        if (slot.which.load(std::memory_order_acquire) == home) {  // pairs with started
            return slot.asks;
        }
    }
    return nullptr;
}

pool_poller* poller_of_any() noexcept {
    for (watched_pool& slot : g_watched) {
        if (slot.which.load(std::memory_order_acquire) != nullptr) {  // pairs with started
            return slot.asks;
        }
    }
    return nullptr;
}

void observe_runtimes() { add_observer(g_pool_watch); }

}  // namespace quern::mpi::detail
