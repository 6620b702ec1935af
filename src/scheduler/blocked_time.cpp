// SPDX-License-Identifier: BSL-1.0
// Reading what the kernel knows of a worker's thread.
#include <quern/scheduler/blocked_time.hpp>

#include <quern/scheduler/worker.hpp>
#include <quern/topology/lost_time.hpp>

#include <algorithm>
#include <ctime>

namespace quern::detail {

namespace {

/// The clock of a thread's processor time, as the kernel numbers such clocks.
clockid_t clock_of(pid_t thread) noexcept {
    constexpr unsigned k_of_thread_by_scheduler = 6;
    return static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3U | k_of_thread_by_scheduler);
}

}  // namespace

double thread_run_ns(pid_t thread) noexcept {
    timespec spent{};
    constexpr double k_ns = 1e9;
    return thread != 0 && ::clock_gettime(clock_of(thread), &spent) == 0
               ? k_ns * static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec)
               : 0.0;
}

topology::outcome<double> read_blocked_ns(const worker& of, const topology::system_root& root) {
    const pid_t thread = of.thread_id();
    if (thread == 0) {
        return 0.0;  // it has not begun
    }
    const worker_totals totals = of.stats.read();  // first: what is taken away grows
    const auto times = topology::detail::read_thread_schedule(root, thread);
    if (!times) {
        return topology::unavailable{times.reason(), times.error()};
    }
    const double away = thread_run_ns(thread) + times->wait_ns + totals.asleep_ns;
    return std::min(totals.total_ns() - away, totals.running_ns);
}

}  // namespace quern::detail
