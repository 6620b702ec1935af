// SPDX-License-Identifier: BSL-1.0
// The measurements of heat and their output: one run as text, a sweep as a table with a plot, CSV.
// The quantities are those of Grubel 2016, section 5.1.2.
#pragma once

#include "tuning.hpp"

#include "../common/cli.hpp"
#include "../common/measure.hpp"
#include "../common/plot.hpp"

#include <quern/quern.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace heat {

/// Times in seconds; running, managing and idle are sums over the workers.
struct measured {
    std::size_t partition_size = 0;
    unsigned workers = 0;
    std::size_t tasks = 0;
    double updates = 0;     ///< points times steps
    double seconds = 0;     ///< wall time
    double describing = 0;  ///< making the tasks: part of running, but not of the computation
    double processor = 0;   ///< processor time of the process
    double running = 0, managing = 0, idle = 0;
    double heat = 0, drift = 0;  ///< sum of the temperatures, and its relative change
    bool conserved = false;
    std::optional<bool> same_as_serial;
    double serial_seconds = 0;
    std::optional<tuning_result> tuning;  ///< then the size is the last choice

    bool right() const { return conserved && same_as_serial.value_or(true); }
    double grid_gb_per_s() const { return updates * 2 * sizeof(double) / seconds / 1e9; }
    double work() const { return running - describing; }
    double overhead() const { return managing + describing; }
    double all() const { return running + managing + idle; }
    double share(double part) const { return all() > 0 ? 100 * part / all() : 0; }
    double idle_rate() const { return share(all() - work()); }
    double task_us() const { return work() / static_cast<double>(tasks) * 1e6; }
    double overhead_us() const { return overhead() / static_cast<double>(tasks) * 1e6; }
};

inline std::string verdict(const measured& m) {
    const std::string heat =
        fmt::format("sum of temperatures {:.8g}, {} (relative change {:.1e})", m.heat,
                    m.conserved ? "conserved" : "NOT CONSERVED", m.drift);
    if (!m.same_as_serial) {
        return heat;
    }
    return heat + (*m.same_as_serial ? "; every bit as in the serial sweep"
                                     : "; DIFFERS FROM THE SERIAL SWEEP");
}

inline void print_setting(std::size_t points, std::size_t steps, quern::pool_ref pool) {
    fmt::print("heat: {} points, {} steps, {} worker{}, policy {}\n", points, steps, pool.workers(),
               pool.workers() == 1 ? "" : "s", pool.policy());
}

inline void print_run(const measured& m) {
    fmt::print("time           {:.3f} s with partitions of {}\n", m.seconds, m.partition_size);
    if (m.serial_seconds > 0) {
        fmt::print("serial sweep   {:.3f} s; ratio {:.3f}\n", m.serial_seconds,
                   m.seconds / m.serial_seconds);
    }
    fmt::print("processor      {:.3f} s, {:.0f} % of what {} worker{} could have had\n",
               m.processor, 100 * m.processor / (m.seconds * m.workers), m.workers,
               m.workers == 1 ? "" : "s");
    fmt::print("rate           {:.3g} points/s, {:.1f} GB/s of grid traffic\n",
               m.updates / m.seconds, m.grid_gb_per_s());
    fmt::print("tasks          {}, {:.2f} us each and {:.3f} us of overhead\n", m.tasks,
               m.task_us(), m.overhead_us());
    fmt::print("idle-rate      {:.1f} % of the workers' time is not work on the grid\n",
               m.idle_rate());
    fmt::print(
        "efficiency     work {:.1f} %, overhead {:.1f} % (describing tasks {:.1f} %), "
        "starvation {:.1f} %\n",
        m.share(m.work()), m.share(m.overhead()), m.share(m.describing), m.share(m.idle));
    fmt::print("answer         {}\n", verdict(m));
}

inline void print_row(const measured& m, bool first) {
    if (first) {
        fmt::print("{:>10} {:>9} {:>9} {:>9} {:>7} {:>11} {:>11} {:>7} {:>9} {:>8}  {}\n",
                   "partition", "tasks", "time s", "cpu s", "GB/s", "task us", "overhead us",
                   "work %", "overh. %", "starv. %", "answer");
    }
    fmt::print(
        "{:>10} {:>9} {:>9.3f} {:>9.3f} {:>7.1f} {:>11.2f} {:>11.3f} {:>7.1f} {:>9.1f} {:>8.1f}  "
        "{}\n",
        m.partition_size, m.tasks, m.seconds, m.processor, m.grid_gb_per_s(), m.task_us(),
        m.overhead_us(), m.share(m.work()), m.share(m.overhead()), m.share(m.idle),
        m.right() ? "right" : "WRONG: " + verdict(m));
    std::fflush(stdout);
}

/// 1500 -> "1.5k", 50000000 -> "50M".
inline std::string short_number(std::size_t n) {
    const auto value = static_cast<double>(n);
    return n >= 1'000'000 ? fmt::format("{:.3g}M", value / 1e6)
           : n >= 1'000   ? fmt::format("{:.3g}k", value / 1e3)
                          : fmt::format("{}", n);
}

inline void print_sweep(const std::vector<measured>& runs) {
    const auto best = std::min_element(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
        return a.seconds < b.seconds;
    });
    std::vector<apps::plot_point> points;
    for (const measured& m : runs) {
        points.push_back({short_number(m.partition_size), m.seconds, &m == &*best});
    }
    fmt::print("\n");
    apps::print_log_plot("time in s against points per partition", points);
    fmt::print("best           partitions of {}: {:.3f} s, {:.1f} us a task, {:.1f} % work\n",
               best->partition_size, best->seconds, best->task_us(), best->share(best->work()));
    fmt::print("answer         {}\n", verdict(*best));
}

/// What a run chose, after how many trials, why, and beside the best run of a sweep.
inline void print_tuning(const measured& m, const std::vector<measured>& sweep) {
    const tuning_result& t = *m.tuning;
    fmt::print("grain          {} points per partition, {} {} {}{}, {:.0f} % of the time\n",
               t.partition_size, t.converged ? "chosen after" : "the best so far of", t.trials,
               t.trials == 1 ? "trial" : "trials",
               t.repeated == 0 ? "" : fmt::format(" ({} repeated)", t.repeated),
               100 * t.search_seconds / m.seconds);
    fmt::print("why            {}\n", t.why);
    if (!sweep.empty()) {
        const auto best = std::min_element(sweep.begin(), sweep.end(),
                                           [](auto& a, auto& b) { return a.seconds < b.seconds; });
        fmt::print(
            "beside         the best of the sweep, {}: {:.3f} of its time, search included\n",
            best->partition_size, m.seconds / best->seconds);
    }
}

inline void print_memory(std::size_t points) {
    fmt::print("peak memory    {:.2f} GB, the two grids are {:.2f} GB\n", apps::peak_memory_gb(),
               2e-9 * static_cast<double>(points * sizeof(double)));
}

inline std::string csv_header() {
    return "partition,workers,tasks,seconds,processor_s,points_per_s,grid_gb_per_s,task_us,"
           "overhead_us,"
           "idle_rate,work,overhead,starvation,right";
}

inline std::string csv_row(const measured& m) {
    return fmt::format(
        "{},{},{},{:.6f},{:.6f},{:.6g},{:.3f},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{}",
        m.partition_size, m.workers, m.tasks, m.seconds, m.processor, m.updates / m.seconds,
        m.grid_gb_per_s(), m.task_us(), m.overhead_us(), m.idle_rate() / 100,
        m.share(m.work()) / 100, m.share(m.overhead()) / 100, m.share(m.idle) / 100,
        m.right() ? 1 : 0);
}

/// Opened before the runs, which may take long; written after each.
class csv_file {
public:
    explicit csv_file(const std::string& name) : m_name(name) {
        if (!m_name.empty()) {
            m_out.open(m_name);
            write(csv_header());
        }
    }
    void write(const std::string& line) {
        if (!m_name.empty() && !(m_out << line << std::endl)) {
            throw apps::usage_error(
                fmt::format("--csv is '{}'; accepted: a file that can be written to", m_name));
        }
    }

private:
    std::string m_name;
    std::ofstream m_out;
};

}  // namespace heat
