// SPDX-License-Identifier: BSL-1.0
// What `quern grain` has measured: a sample for each run, with the metrics of Grubel 2016, chapter
// 5, and what follows from all of them together. Times are in seconds and rates are ratios; what is
// not known is NaN, never zero. A metric is a row of a table, so that no printer has to know any.
#pragma once

#include "grain_plan.hpp"
#include "statistics.hpp"

#include <array>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace quern::tool {

enum class metric : unsigned {
    time,        ///< execution time: what the program says, otherwise the uptime
    wall,        ///< of the process, from outside
    uptime,      ///< of the runtime within it
    processor,   ///< of all threads
    tasks,       ///< n_t
    duration,    ///< t_d, of a task
    overhead,    ///< t_o, of a task
    idle,        ///< (func - exec) / func
    starvation,  ///< the part of it without anything to do
    managing,    ///< the part of it that is work of the scheduler
    cumulative,  ///< in task bodies, all workers
    cumulative_overhead,
    overall,        ///< all there was: bodies, managing and idling of all workers
    management,     ///< TM, per worker
    wait,           ///< t_w = t_d - t_d1, of a task
    wait_per_core,  ///< Tw, or WT
    management_and_wait,
    pending_accesses,
    pending_misses,
};
inline constexpr std::size_t k_metrics = static_cast<std::size_t>(metric::pending_misses) + 1;

enum class quantity { seconds, microseconds, percent, count };  ///< how it is shown

struct metric_info {
    metric id;
    const char* key;    ///< in CSV and JSON, with its unit
    const char* title;  ///< for people
    const char* name;   ///< the same where there is no room
    quantity shown_as;
    const char* counter;  ///< where it is from; empty: computed
    bool is_compared;     ///< whether it is correlated and may choose a grain
};

/// In the order of the enumeration.
std::span<const metric_info> metric_table();
const metric_info& info_of(metric which);

class measures {
public:
    measures() { m_values.fill(std::numeric_limits<double>::quiet_NaN()); }
    double& operator[](metric m) { return m_values[static_cast<std::size_t>(m)]; }
    double operator[](metric m) const { return m_values[static_cast<std::size_t>(m)]; }

private:
    std::array<double, k_metrics> m_values{};
};

/// One run.
struct sample {
    unsigned workers = 1;
    grain_size grain = 1;
    unsigned repetition = 0;
    measures values;
};

/// By how long a task is on one worker (see band_name).
enum class band : unsigned { very_fine, fine, medium, coarse, very_coarse };
inline constexpr unsigned k_bands = 5;
const char* name_of(band which);
const char* limits_of(band which);  ///< "30 to 100 µs"
band band_of(double duration_s);

struct study {
    std::string command;  ///< with the braces
    std::string name;     ///< what stands in them
    std::string machine;
    unsigned cpus = 1;  ///< that Quern would use
    unsigned repetitions = 1;
    bool is_complete = false;
    std::string time_from = "uptime of the runtime";  ///< what the execution time is
    std::vector<grain_size> grains;
    std::vector<unsigned> workers;
    std::vector<sample> samples;
    std::vector<std::string> missing;  ///< counters without a value, with the reason

    bool has_one_worker() const;
    std::vector<const sample*> of(unsigned workers) const;
    std::vector<const sample*> of(unsigned workers, grain_size grain) const;
    summary summary_of(unsigned workers, grain_size grain, metric which) const;

    /// How far the times of runs that should be equal are apart: the median spread. NaN for one run
    /// of each kind.
    double noise() const;

    /// The median duration of a task of that grain on one worker; without such runs, on as few as
    /// there are. NaN when there is none.
    double least_disturbed_duration(grain_size grain) const;
};

/// Computes what comes from other values of the same sample, and wait times from the samples of one
/// worker. To be called again when samples have come.
void derive(study& of);

}  // namespace quern::tool
