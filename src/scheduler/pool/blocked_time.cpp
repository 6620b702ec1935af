// SPDX-License-Identifier: BSL-1.0
// Reads the kernel's times for a worker's thread.
#include <quern/scheduler/detail/blocked_time.hpp>

#include <quern/scheduler/detail/worker_status.hpp>
#include <quern/topology/detail/lost_time.hpp>

#include <algorithm>
#include <ctime>

namespace quern::detail {

namespace {

/// The kernel's clock id for a thread's processor time.
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

topology::outcome<thread_look> look_at_thread(const worker_status& of,
                                              const topology::system_root& root) {
    const pid_t thread = of.thread_id();
    if (thread == 0) {
        return thread_look{};  // it has not begun
    }
    const auto times = topology::detail::read_thread_schedule(root, thread);
    if (!times) {
        return topology::unavailable{times.reason(), times.error()};
    }
    return thread_look{times->wait_ns, thread_run_ns(thread)};
}

lost_part lost_in(const worker_totals& spent, const thread_look& thread) noexcept {
    const double waited = std::max(thread.waited_ns, 0.0);
    const double awake = spent.total_ns() - spent.asleep_ns - spent.guest_ns;
    if (awake <= 0) {
        return {waited, waited};
    }
    const double while_awake = std::clamp(awake - thread.ran_ns, 0.0, waited);
    const double searching = std::clamp(spent.idle_ns - spent.asleep_ns, 0.0, awake);
    return {waited, waited - while_awake + while_awake * searching / awake};
}

time_parts without_losses(time_parts of, const lost_part& lost) noexcept {
    const double all = std::max(lost.all_ns, 0.0);
    const double busy = of.in_tasks_ns + of.managing_ns;
    const double from_busy = std::clamp(all - lost.idle_ns, 0.0, std::min(all, busy));
    const double from_idle = std::min(all - from_busy, of.idle_ns);
    const double from_tasks = busy > 0 ? from_busy * of.in_tasks_ns / busy : 0;
    return {of.in_tasks_ns - from_tasks, of.managing_ns - (from_busy - from_tasks),
            of.idle_ns - from_idle, from_busy + from_idle};
}

topology::outcome<double> read_blocked_ns(const worker_status& of,
                                          const topology::system_root& root) {
    const pid_t thread = of.thread_id();
    if (thread == 0) {
        return 0.0;  // it has not begun
    }
    const worker_totals totals = of.stats().read();  // first: what is subtracted grows
    const auto times = topology::detail::read_thread_schedule(root, thread);
    if (!times) {
        return topology::unavailable{times.reason(), times.error()};
    }
    const double away = thread_run_ns(thread) + times->wait_ns + totals.asleep_ns + totals.guest_ns;
    return std::min(totals.total_ns() - away, totals.running_ns);
}

}  // namespace quern::detail
