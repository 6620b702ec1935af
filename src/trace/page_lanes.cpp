// SPDX-License-Identifier: BSL-1.0
// The lanes take most of the page: what they leave out follows from the room that the rest leaves.
#include "page_lanes.hpp"

#include "idle_time.hpp"
#include "lane_levels.hpp"
#include "packed_bytes.hpp"
#include "slice_choice.hpp"

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
    out.open('{').field("pool", one.pool).field("rank", std::uint64_t{one.rank});
    out.field("thread", static_cast<double>(one.thread)).field("dropped", one.dropped);
    out.field("running", one.totals.running_ns).field("managing", one.totals.managing_ns);
    out.field("idle", one.totals.idle_ns).field("tasks", one.totals.tasks);
    out.field("stolen", one.totals.stolen).field("parks", one.totals.parks);
    out.field("suspensions", one.totals.suspensions);
    out.field("until", recorded_until(one, run.duration_ns));
    const std::vector<interval> idle = idle_intervals(one, run.duration_ns);
    out.key("slices").plain(slices).key("idle_times").plain(sleeps(run, idle));
    out.key("levels").open('[');
    for (const std::string& level : lane_levels(one, idle, sites, run.duration_ns, sizes)) {
        out.plain(level);
    }
    out.close(']').close('}');
}

void write_choice(json& out, const slice_choice& choice) {
    out.key("kept").open('{').field("total", choice.total).field("kept", choice.kept);
    out.field("shortest", choice.shortest_ns).field("every", choice.every_ns);
    out.field("stretch", choice.stretch_ns).close('}');
}

}  // namespace

void write_lanes(json& out, const recording& run, const page_sites& sites, std::size_t characters) {
    const std::vector<std::size_t> sizes = level_sizes(run.lanes.size(), run.duration_ns);
    out.key("level_sizes").open('[');
    for (const std::size_t size : sizes) {
        out.number(static_cast<double>(size));
    }
    out.close(']');
    // The levels and sleeps are written last, but are known to need about so much.
    constexpr std::size_t k_per_lane = 700;
    std::size_t taken = out.str().size() + k_sleeps * 8;
    for (const std::size_t size : sizes) {
        taken += (size * 4 + k_per_lane) * run.lanes.size();
    }
    const slice_choice choice = choose_slices(run, sites, characters - std::min(characters, taken));
    write_choice(out, choice);
    out.key("lanes").open('[');
    for (std::size_t i = 0; i < run.lanes.size(); ++i) {
        write_lane(out, run, sites, run.lanes[i], choice.lanes[i], sizes);
    }
    out.close(']');
}

}  // namespace quern::trace::detail
