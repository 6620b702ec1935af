// SPDX-License-Identifier: BSL-1.0
// The lanes take most of the page: what they leave out follows from the room that the rest leaves.
#include "page/data.hpp"

#include "analyse/concurrency.hpp"
#include "page/lane_levels.hpp"
#include "page/packed_bytes.hpp"
#include "page/slice_choice.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace quern::trace::detail {

namespace {

constexpr std::size_t k_sleeps = 120'000;  // of all lanes together

/// Only those that could be wider than a pixel of a very wide screen.
std::string sleeps(const recording& run, const std::vector<interval>& idle) {
    const std::uint64_t shortest = run.duration_ns * run.lanes.size() / k_sleeps;
    packed_bytes bytes;
    std::uint64_t at = 0;
    for (const interval& sleep : idle) {
        if (sleep.end_ns > sleep.begin_ns && sleep.end_ns - sleep.begin_ns >= shortest) {
            bytes.difference(at, sleep.begin_ns);
            bytes.number(sleep.end_ns - sleep.begin_ns);
            at = sleep.end_ns;
        }
    }
    return bytes.base64();
}

void write_lane(json& out, const recording& run, const page_sites& sites, const lane& one,
                const std::string& slices, const std::vector<std::size_t>& sizes) {
    const worker_totals& totals = one.totals;
    out.open('{').fields("pool", one.pool, "rank", one.rank, "thread", one.thread, "dropped",
                         one.dropped, "running", totals.running_ns, "managing", totals.managing_ns,
                         "idle", totals.idle_ns, "tasks", totals.tasks, "stolen", totals.stolen,
                         "parks", totals.parks, "suspensions", totals.suspensions, "until",
                         recorded_until(one, run.duration_ns));
    const std::vector<interval> idle = idle_intervals(one, run.duration_ns);
    out.plain(slices, "slices").plain(sleeps(run, idle), "idle_times").open('[', "levels");
    for (const std::string& level : lane_levels(one, idle, sites, run.duration_ns, sizes)) {
        out.plain(level);
    }
    out.close().close();
}

}  // namespace

void write_lanes(json& out, const recording& run, const page_sites& sites, std::size_t characters) {
    const std::vector<std::size_t> sizes = level_sizes(run.lanes.size(), run.duration_ns);
    out.list("level_sizes", sizes);
    // The levels and sleeps are written last, but are known to need about so much.
    constexpr std::size_t k_per_lane = 700;
    std::size_t taken = out.size() + k_sleeps * 8;
    for (const std::size_t size : sizes) {
        taken += (size * 4 + k_per_lane) * run.lanes.size();
    }
    const slice_choice choice = choose_slices(run, sites, characters - std::min(characters, taken));
    out.open('{', "kept")
        .fields("total", choice.total, "kept", choice.kept, "shortest", choice.shortest_ns, "every",
                choice.every_ns, "stretch", choice.stretch_ns);
    out.close().open('[', "lanes");
    for (std::size_t i = 0; i < run.lanes.size(); ++i) {
        write_lane(out, run, sites, run.lanes[i], choice.lanes[i], sizes);
    }
    out.close();
}

}  // namespace quern::trace::detail
