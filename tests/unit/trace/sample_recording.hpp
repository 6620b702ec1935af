// SPDX-License-Identifier: BSL-1.0
// Synthetic recordings for the tests of reports: a program of four sites on some workers, with any
// number of slices, always the same for the same numbers; and totals alone, for verdicts.
#pragma once

#include <quern/trace/recording.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace quern_test {

namespace trace = quern::trace;

/// A name that would end a script, a string, an attribute and a comment.
inline const std::string k_hostile_name = "</script><script>alert(1)</script><!-- \"'&\\ \xFF\n";

/// Pseudorandom, from 0 up to 1.
class dice {
public:
    double roll() noexcept {
        m_state = m_state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(m_state >> 11) / 9007199254740992.0;
    }

private:
    std::uint64_t m_state = 42;
};

inline void count(trace::site& into, double ns) {
    into.min_ns = into.tasks == 0 ? ns : std::min(into.min_ns, ns);
    into.max_ns = std::max(into.max_ns, ns);
    into.total_ns += ns;
    ++into.tasks;
    ++into.phases;
    ++into.histogram[static_cast<std::size_t>(
        std::bit_width(static_cast<std::uint64_t>(std::max(ns, 1.0))) - 1)];
}

/// Tasks one after the other on a lane, sometimes with a sleep between them. `mean_ns`: of the
/// tasks.
inline void fill_lane(trace::recording& run, trace::lane& lane, std::size_t slices, double mean_ns,
                      dice& random) {
    constexpr double k_between_ns = 300.0;
    std::uint64_t now = 1'000 + 50 * std::uint64_t{lane.rank};
    lane.totals.managing_ns += static_cast<double>(now);
    for (std::size_t i = 0; i < slices; ++i) {
        const auto site = static_cast<std::uint32_t>(random.roll() < 0.7   ? 1
                                                     : random.roll() < 0.8 ? 2
                                                                           : 3);
        const double ns = std::ceil(mean_ns * (0.2 + 1.6 * random.roll()) * (site == 2 ? 4 : 1));
        const auto end = now + static_cast<std::uint64_t>(ns);
        lane.slices.push_back({now, end, i * 16 + lane.rank + 1, 0, site, random.roll() < 0.02});
        count(run.sites[site], ns);
        lane.totals.running_ns += ns;
        now = end;
        const double between = random.roll() < 0.01 ? 40 * mean_ns : k_between_ns;
        const auto next = now + static_cast<std::uint64_t>(between);
        if (between > k_between_ns) {
            lane.parked.push_back({now + 100, next});
            lane.totals.idle_ns += between;
            ++lane.totals.parks;
        } else {
            lane.totals.managing_ns += between;
        }
        now = next;
    }
    lane.totals.tasks = slices;
    run.duration_ns = std::max(run.duration_ns, now);
}

inline trace::recording sample_recording(std::size_t workers, std::size_t slices,
                                         double mean_ns = 4'000.0) {
    trace::recording run;
    run.program = "heat";
    run.command_line = "./heat --size 4096 --steps 100";
    run.started = "2024-05-17T09:30:00Z";
    run.machine = "8 cores, 2 NUMA nodes, an invented machine";
    run.settings = {{"threads", std::to_string(workers) + " (environment QUERN_THREADS)"},
                    {"policy", "work-stealing (default)"}};
    run.sites.resize(4);
    run.sites[0].name = "main";
    run.sites[1].name = "update_row(grid&, std::size_t)";
    run.sites[1].location = "heat.cpp:42";
    run.sites[2].name = k_hostile_name;
    run.sites[3].name = "reduce";
    run.sites[3].location = "heat.cpp:77";
    dice random;
    run.lanes.resize(workers);
    for (std::size_t i = 0; i < workers; ++i) {
        trace::lane& lane = run.lanes[i];
        lane.pool = "default";
        lane.rank = static_cast<std::uint32_t>(i);
        lane.thread = static_cast<std::int32_t>(4711 + i);
        fill_lane(run, lane, slices / workers, mean_ns, random);
    }
    for (trace::lane& lane : run.lanes) {
        lane.totals.idle_ns +=
            std::max(0.0, static_cast<double>(run.duration_ns) - lane.totals.total_ns());
    }
    run.overhead_ns_per_task = 310.0;
    run.critical_path_ns = static_cast<double>(run.duration_ns) / 3.0;
    run.tree = {
        {0, 1, run.sites[1].tasks}, {1, 2, run.sites[2].tasks}, {2, 3, 7}, {3, 3, 12}, {99, 1, 5}};
    run.decisions = {
        {run.duration_ns / 3, "throttle", "active workers from 8 to 6: starvation 20 %"},
        {run.duration_ns / 2, "grain", "rows of a task from 1 to 4: overhead 31 %"}};
    trace::series memory{.name = "resident memory", .unit = "B", .points = {}};
    trace::series rate{.name = "tasks per second", .unit = "", .points = {}};
    for (std::uint64_t i = 0; i < 5'000; ++i) {
        const std::uint64_t at = run.duration_ns / 5'000 * i;
        memory.points.emplace_back(at, 1e8 + 2e4 * static_cast<double>(i));
        rate.points.emplace_back(at, 1e6 * (1.0 + std::sin(static_cast<double>(i) / 300.0)));
    }
    run.counters = {memory, rate};
    return run;
}

/// Parts of a run on some workers, in seconds summed over the workers.
struct parts {
    double work = 0.0;
    double overhead = 0.0;
    double starvation = 0.0;
    std::uint64_t tasks = 1'000'000;
};

/// Totals and one site, no slices.
inline trace::recording recording_of(std::size_t workers, const parts& of) {
    constexpr double k_second = 1e9;
    trace::recording run;
    run.program = "heat";
    run.sites.resize(1);
    run.sites[0].name = "update";
    run.sites[0].location = "heat.cpp:42";
    run.sites[0].tasks = of.tasks;
    run.sites[0].total_ns = of.work * k_second;
    run.sites[0].max_ns = run.sites[0].mean_ns() * 2;
    for (std::size_t i = 0; i < workers; ++i) {
        const double share = k_second / static_cast<double>(workers);
        trace::lane& lane = run.lanes.emplace_back();
        lane.rank = static_cast<std::uint32_t>(i);
        lane.dropped = 1;  // slices are incomplete
        lane.totals.running_ns = of.work * share;
        lane.totals.managing_ns = of.overhead * share;
        lane.totals.idle_ns = of.starvation * share;
        lane.totals.tasks = of.tasks / workers;
        run.duration_ns = static_cast<std::uint64_t>(lane.totals.total_ns());
    }
    return run;
}

}  // namespace quern_test
