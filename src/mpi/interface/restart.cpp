// SPDX-License-Identifier: BSL-1.0
// wait_or_restart: a task whose messages have not come leaves its function by an exception and is
// queued again; the count of restarts.
#include <quern/mpi/restart.hpp>

#include "calls/calls.hpp"
#include "interface/restart.hpp"
#include "library/mechanism.hpp"
#include "messages/open_requests.hpp"

#include <quern/base/detail/clock.hpp>
#include <quern/dependences/detail/restart.hpp>
#include <quern/mpi/requests.hpp>
#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/worker.hpp>
#include <quern/task/this_task.hpp>

#include <sched.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

namespace quern::mpi {

namespace {

using namespace std::chrono_literals;
using detail::call_kind;

constinit std::atomic<std::uint64_t> g_restarts{0};

/// When a request was last found to have ended. Until then nothing has waited.
constinit std::atomic<quern::detail::tick_count> g_restart_progress{0};

/// The pauses of tasks that wait and restart in turns: those of threads outside (operation.cpp).
constexpr auto k_busy = 1000us;
constexpr int k_part_of_wait = 16;
constexpr std::chrono::microseconds k_longest_pause = 1000us;

/// Tasks that the calling worker had ended at the last restart on it.
[[gnu::noinline]] std::uint64_t& ended_at_last_restart() noexcept {
    static thread_local std::uint64_t ended = 0;
    return ended;
}

/// Whether this worker has run another task since the last restart on it, which counts as one.
bool others_have_run() noexcept {
    const quern::detail::worker* const here = quern::detail::current_worker();
    if (here == nullptr) {
        return false;
    }
    const std::uint64_t now = here->stats().tasks.value();
    return now > std::exchange(ended_at_last_restart(), now) + 1;
}

/// So that a core is not kept busy by tasks that wait, and other ranks get it. The pause grows with
/// the time that has passed without an end.
void pause_before_restart() noexcept {
    if (others_have_run()) {
        return;
    }
    const auto since = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::nanoseconds(static_cast<std::int64_t>(
            static_cast<double>(quern::detail::ticks() -
                                g_restart_progress.load(std::memory_order_relaxed)) *
            quern::detail::ns_per_tick())));
    if (since < k_busy) {
        ::sched_yield();
    } else {
        this_task::sleep_for(std::min(since / k_part_of_wait, k_longest_pause));
    }
}

/// True: all have ended.
bool have_ended(std::span<MPI_Request> requests, MPI_Status* statuses) {
    static constexpr call_kind kind{"quern::mpi::wait_or_restart"};
    const auto count = static_cast<int>(requests.size());
    int found = 0;
    detail::ended_requests seen(count, requests.data(), statuses, count);
    const int code = detail::run_plain({.kind = &kind.wait}, [&] {
        return detail::next::Testall(count, requests.data(), &found, seen.statuses());
    });
    if (code != MPI_SUCCESS) {
        throw error(code);
    }
    if (found != 0) {
        seen.end_all(code);
    }
    return found != 0;
}

void require_restart() {
    if (const char* const why = quern::detail::why_no_restart()) {
        throw std::logic_error(
            std::string("quern: mpi::wait_or_restart with mpi-mechanism=restart: ") + why +
            "; accepted: in a task of a quern::domain, before it does what cannot be done again");
    }
}

}  // namespace

void wait_or_restart(std::span<MPI_Request> requests, std::span<MPI_Status> statuses) {
    if (!statuses.empty() && statuses.size() != requests.size()) {
        throw std::invalid_argument("quern: mpi::wait_or_restart of " +
                                    std::to_string(requests.size()) + " requests with " +
                                    std::to_string(statuses.size()) +
                                    " statuses; accepted: none, or as many as requests");
    }
    MPI_Status* const into = statuses.empty() ? MPI_STATUSES_IGNORE : statuses.data();
    if (detail::chosen_mechanism() != detail::mechanism::restart) {
        const int code = MPI_Waitall(static_cast<int>(requests.size()), requests.data(), into);
        if (code != MPI_SUCCESS) {
            throw error(code);
        }
        return;
    }
    require_restart();
    if (have_ended(requests, into)) {
        g_restart_progress.store(quern::detail::ticks(), std::memory_order_relaxed);
        return;
    }
    detail::engine::of_process().look();
    pause_before_restart();
    g_restarts.fetch_add(1, std::memory_order_relaxed);
    quern::detail::restart_running_task();
}

namespace detail {

std::uint64_t restarts() noexcept { return g_restarts.load(std::memory_order_relaxed); }

}  // namespace detail

}  // namespace quern::mpi
