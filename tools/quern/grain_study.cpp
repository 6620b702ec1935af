// SPDX-License-Identifier: BSL-1.0
// The bodies of grain_study.hpp: the table of metrics, the bands, and the equations of Grubel 2016,
// section 5.1.2.
#include "grain_study.hpp"

#include <algorithm>
#include <cmath>

namespace quern::tool {

namespace {

using enum quantity;

constexpr metric_info k_table[] = {
    {metric::time, "time_s", "execution time", "time", seconds, "", false},
    {metric::wall, "wall_s", "wall time of the process", "wall", seconds, "", false},
    {metric::uptime, "uptime_s", "uptime of the runtime", "uptime", seconds, "/runtime/uptime",
     false},
    {metric::processor, "processor_s", "processor time", "cpu", seconds, "", false},
    {metric::tasks, "tasks", "tasks", "tasks", count, "/threads/count/cumulative", false},
    {metric::duration, "duration_us", "task duration", "task", microseconds,
     "/threads/time/average", false},
    {metric::overhead, "overhead_us", "overhead per task", "overhead", microseconds,
     "/threads/time/average-overhead", false},
    {metric::idle, "idle_rate_percent", "idle-rate", "idle-rate", percent, "/threads/idle-rate",
     true},
    {metric::starvation, "starvation_rate_percent", "starvation-rate", "starvation", percent,
     "/threads/starvation-rate", false},
    {metric::managing, "overhead_rate_percent", "overhead-rate", "overhead-rate", percent,
     "/threads/overhead-rate", false},
    {metric::cumulative, "cumulative_s", "cumulative task time", "cumulative", seconds,
     "/threads/time/cumulative", true},
    {metric::cumulative_overhead, "cumulative_overhead_s", "cumulative overhead", "cum. overhead",
     seconds, "/threads/time/cumulative-overhead", false},
    {metric::overall, "overall_s", "overall task time", "overall", seconds, "/threads/time/overall",
     true},
    {metric::management, "management_s", "task management per core (TM)", "TM", seconds, "", true},
    {metric::wait, "wait_us", "wait time per task", "wait", microseconds, "", false},
    {metric::wait_per_core, "wait_s", "wait time per core (WT)", "WT", seconds, "", true},
    {metric::management_and_wait, "management_and_wait_s", "TM + WT", "TM+WT", seconds, "", true},
    {metric::pending_accesses, "pending_accesses", "pending-queue accesses", "p-access", count,
     "/threads/count/pending-accesses", true},
    {metric::pending_misses, "pending_misses", "pending-queue misses", "p-miss", count,
     "/threads/count/pending-misses", true},
};
static_assert(std::size(k_table) == k_metrics);

/// Upper ends. Grubel 2016, table 7, by the duration of a task on one core: very fine below 30 us,
/// fine to 100 us, medium to 500 us, coarse above. Very coarse is from table 2, more than 800 000
/// points, which begins with the 1 000 000 points that took 1.3 ms there (section 5.2.3); rounded.
constexpr double k_band_ends[] = {30e-6, 100e-6, 500e-6, 1e-3};

/// What the other values of a sample say.
void derive_from_itself(sample& one) {
    measures& v = one.values;
    if (std::isnan(v[metric::time])) {
        v[metric::time] = std::isfinite(v[metric::uptime]) ? v[metric::uptime] : v[metric::wall];
    }
    if (std::isnan(v[metric::cumulative_overhead])) {
        v[metric::cumulative_overhead] = v[metric::overhead] * v[metric::tasks];
    }
    v[metric::management] = v[metric::cumulative_overhead] / one.workers;
}

}  // namespace

std::span<const metric_info> metric_table() { return k_table; }

const metric_info& info_of(metric which) { return k_table[static_cast<std::size_t>(which)]; }

const char* name_of(band which) {
    constexpr const char* k_names[] = {"very fine", "fine", "medium", "coarse", "very coarse"};
    return k_names[static_cast<unsigned>(which)];
}

const char* limits_of(band which) {
    constexpr const char* k_limits[] = {"below 30 µs", "30 to 100 µs", "100 to 500 µs",
                                        "0.5 to 1 ms", "above 1 ms"};
    return k_limits[static_cast<unsigned>(which)];
}

band band_of(double duration_s) {
    const auto* const end = std::find_if(std::begin(k_band_ends), std::end(k_band_ends),
                                         [=](double upper) { return duration_s < upper; });
    return static_cast<band>(end - std::begin(k_band_ends));
}

bool study::has_one_worker() const { return !of(1).empty(); }

std::vector<const sample*> study::of(unsigned number) const {
    std::vector<const sample*> found;
    for (const sample& one : samples) {
        if (one.workers == number) {
            found.push_back(&one);
        }
    }
    return found;
}

std::vector<const sample*> study::of(unsigned number, grain_size grain) const {
    std::vector<const sample*> found = of(number);
    std::erase_if(found, [=](const sample* one) { return one->grain != grain; });
    return found;
}

summary study::summary_of(unsigned number, grain_size grain, metric which) const {
    const std::vector<const sample*> samples_there = of(number, grain);
    std::vector<double> values;
    values.reserve(samples_there.size());
    for (const sample* one : samples_there) {
        values.push_back(one->values[which]);
    }
    return summarize(values);
}

double study::noise() const {
    std::vector<double> spreads;
    for (const unsigned number : workers) {
        for (const grain_size grain : grains) {
            const summary time = summary_of(number, grain, metric::time);
            if (time.count > 1) {
                spreads.push_back(time.spread());
            }
        }
    }
    return summarize(spreads).median;
}

double study::least_disturbed_duration(grain_size grain) const {
    for (const unsigned number : workers) {
        const summary found = summary_of(number, grain, metric::duration);
        if (found.count != 0) {
            return found.median;
        }
    }
    return std::numeric_limits<double>::quiet_NaN();
}

void derive(study& of) {
    for (sample& one : of.samples) {
        derive_from_itself(one);
    }
    for (sample& one : of.samples) {
        measures& v = one.values;
        if (one.workers == 1) {
            continue;  // what others make a task wait for is 0 here by definition
        }
        const double alone = of.summary_of(1, one.grain, metric::duration).median;
        v[metric::wait] = v[metric::duration] - alone;
        v[metric::wait_per_core] = v[metric::wait] * v[metric::tasks] / one.workers;
        v[metric::management_and_wait] = v[metric::management] + v[metric::wait_per_core];
    }
}

}  // namespace quern::tool
