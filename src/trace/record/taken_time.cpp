// SPDX-License-Identifier: BSL-1.0
// Computes the workers' share of taken time from sums of the system.
#include "record/taken_time.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

namespace quern::trace::detail {

namespace {

using topology::detail::thread_schedule;

double grown(double from, double to) { return std::max(to - from, 0.0); }

/// The hypervisor takes time from running threads. The workers' part of it is their share of the
/// busy time of the machine's processors.
std::optional<double> stolen_ns(const lost_time_look& before, const lost_time_look& after,
                                double run_ns) {
    using namespace topology::detail;
    if (!before.processors || !after.processors || after.processors->size() <= k_steal ||
        before.processors->size() != after.processors->size()) {
        return std::nullopt;
    }
    double busy = 0.0;
    for (std::size_t i = 0; i < after.processors->size(); ++i) {
        const bool is_busy = i != k_idle && i != k_iowait && i != k_steal;
        busy += is_busy ? grown((*before.processors)[i], (*after.processors)[i]) : 0.0;
    }
    const double tick_ns = 1e9 / static_cast<double>(::sysconf(_SC_CLK_TCK));
    const double stolen = grown((*before.processors)[k_steal], (*after.processors)[k_steal]);
    return busy > 0.0 ? stolen * tick_ns * std::min(1.0, run_ns / (busy * tick_ns)) : 0.0;
}

}  // namespace

std::map<std::int32_t, thread_schedule> schedules_of(std::span<const std::int32_t> threads,
                                                     const topology::system_root& root) {
    std::map<std::int32_t, thread_schedule> found;
    for (const std::int32_t thread : threads) {
        if (thread != 0) {
            if (const auto times = topology::detail::read_thread_schedule(root, thread)) {
                found.emplace(thread, *times);
            }
        }
    }
    return found;
}

lost_time_look look_at_lost_time(std::span<const std::int32_t> threads,
                                 const topology::system_root& root) {
    lost_time_look seen;
    seen.threads = schedules_of(threads, root);
    if (const auto text = topology::read_text(root, "/proc/stat")) {
        if (const auto times = topology::detail::parse_processor_times(*text)) {
            seen.processors = *times;
        }
    }
    if (const auto stopped = topology::detail::read_throttling(root)) {
        seen.throttled_ns = stopped->ns;
    }
    return seen;
}

namespace {

/// From the affinity mask of the process's first thread, which is not a worker; 0: more than fit
/// into the mask.
unsigned usable_processors() noexcept {
    cpu_set_t mask;
    return ::sched_getaffinity(::getpid(), sizeof mask, &mask) == 0
               ? static_cast<unsigned>(CPU_COUNT(&mask))
               : 0;
}

}  // namespace

taken_time between(const lost_time_look& before, const lost_time_look& after) {
    taken_time found;
    found.processors = usable_processors();
    if (before.throttled_ns && after.throttled_ns) {
        found.by_quota_ns = grown(*before.throttled_ns, *after.throttled_ns);
    }
    if (after.threads.empty()) {
        return found;
    }
    double run_ns = 0.0;
    double wait_ns = 0.0;
    for (const auto& [thread, now] : after.threads) {
        const auto known = before.threads.find(thread);
        const thread_schedule then =
            known != before.threads.end() ? known->second : thread_schedule{};
        run_ns += grown(then.run_ns, now.run_ns);
        wait_ns += grown(then.wait_ns, now.wait_ns);
    }
    // A thread stopped by a quota is ready and waits; the quota also stops other threads of the
    // group.
    found.by_quota_ns =
        found.by_quota_ns ? std::optional(std::min(*found.by_quota_ns, wait_ns)) : std::nullopt;
    found.by_programs_ns = wait_ns - found.by_quota_ns.value_or(0.0);
    found.by_hypervisor_ns = stolen_ns(before, after, run_ns);
    return found;
}

}  // namespace quern::trace::detail
