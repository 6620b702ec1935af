// SPDX-License-Identifier: BSL-1.0
// Converts the workers' tracks to a recording: names and merges kinds of tasks, converts ticks to
// nanoseconds, and builds the spawn tree.
#include "analyse/waits.hpp"
#include "record/recorder_state.hpp"
#include "record/site_names.hpp"

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/symbols.hpp>
#include <quern/trace/critical_path.hpp>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace quern::trace::detail {

namespace {

using task_sites = std::unordered_map<std::uint64_t, std::uint32_t>;

std::vector<double> events_of(const event_sums& sums, std::size_t measured) {
    std::vector<double> all;
    for (std::size_t i = 0; i < measured && sums.counted != 0; ++i) {
        all.push_back(sums.scaled(i));
    }
    return all;
}

/// Kinds of tasks of all workers, merged by name and place.
class merged_sites {
public:
    /// Maps each index of the table to its index in the recording.
    /// `stopped`: the share of their blocked time in which the process was stopped.
    std::vector<std::uint32_t> add(const site_table& from, double stopped) {
        std::vector<std::uint32_t> places;
        for (site_count each : from.all()) {
            each.blocked_ns *= 1 - stopped;
            places.push_back(each.phases != 0 || each.waited != 0 ? place_of(each) : 0);
        }
        return places;
    }

    std::vector<site> give(std::size_t measured) {
        std::vector<site> all;
        const double ns = quern::detail::ns_per_tick();
        for (std::size_t i = 0; i < m_counts.size(); ++i) {
            const site_count& c = m_counts[i];
            all.push_back({.name = std::move(m_names[i].name),
                           .location = std::move(m_names[i].location),
                           .tasks = c.time.count(),
                           .phases = c.phases,
                           .suspensions = c.suspensions,
                           .inlined = c.inlined,
                           .stolen = c.stolen,
                           .total_ns = c.time.total(),
                           .waited_ns = static_cast<double>(c.waited) * ns,
                           .blocked_ns = c.blocked_ns,
                           .lost_ns = c.lost_ns,
                           .lost_error_ns = c.lost_error_ns,
                           .min_ns = c.time.min(),
                           .max_ns = c.time.max(),
                           .stddev_ns = c.time.stddev(),
                           .histogram = c.time.histogram(),
                           .events = events_of(c.events, measured),
                           .is_part = c.is_part});
        }
        return all;
    }

private:
    std::uint32_t place_of(const site_count& c) {
        const auto by_address = std::tuple(c.name, c.address, c.part_of);
        if (const auto known = m_by_address.find(by_address); known != m_by_address.end()) {
            m_counts[known->second].merge(c);
            return known->second;
        }
        site_name words = name_site(c);
        const auto [at, is_new] = m_by_name.try_emplace(
            std::pair(words.name, words.location), static_cast<std::uint32_t>(m_counts.size()));
        if (is_new) {
            m_counts.push_back(c);
            m_names.push_back(std::move(words));
        } else {
            m_counts[at->second].merge(c);
        }
        m_by_address.emplace(by_address, at->second);
        return at->second;
    }

    std::vector<site_count> m_counts;
    std::vector<site_name> m_names;
    std::map<std::pair<std::string, std::string>, std::uint32_t> m_by_name;
    std::map<std::tuple<std::string, const void*, const void*>, std::uint32_t> m_by_address;
};

/// Event states come from the actual readings, without sampling weights.
std::vector<counted_event> describe_events(const std::vector<recorded_worker>& workers) {
    std::vector<counted_event> all;
    const event_meter* const any = workers.empty() ? nullptr : workers.front().events->meter();
    if (any == nullptr) {
        return all;
    }
    event_sums sum;
    for (const recorded_worker& w : workers) {
        sum.add(w.events->read());
    }
    for (std::size_t i = 0; i < any->wanted().kinds.size(); ++i) {
        const topology::event_kind& kind = any->wanted().kinds[i];
        std::string why = topology::why_nothing(kind, {sum.values[i], sum.enabled, sum.counted});
        for (const recorded_worker& w : workers) {
            const std::string fault = w.events->meter()->fault(i);
            why = fault.empty() ? why : fault;
        }
        const double counted = sum.counted < sum.enabled ? static_cast<double>(sum.counted) /
                                                               static_cast<double>(sum.enabled)
                                                         : 1.0;
        all.push_back({kind.name, kind.unit, std::move(why), counted});
    }
    return all;
}

slice slice_of(const event& e, double ns, std::uint32_t site) {
    const auto in_ns = [ns](std::uint64_t ticks) {
        return static_cast<std::uint64_t>(static_cast<double>(ticks) * ns);
    };
    const bool is_first = (e.flags() & piece_flags::k_first) != 0;
    slice s{.begin_ns = in_ns(e.begin()),
            .end_ns = in_ns(e.begin() + e.length()),
            .task = e.task(),
            .parent = is_first ? e.cause() : 0,
            .site = site,
            .suspended = (e.flags() & piece_flags::k_suspended) != 0,
            .inlined = (e.flags() & piece_flags::k_inlined) != 0,
            .covered = (e.flags() & piece_flags::k_covered) != 0,
            .stolen = (e.flags() & piece_flags::k_stolen) != 0,
            .continued = (e.flags() & piece_flags::k_continued) != 0,
            .first = is_first,
            .cause = e.cause()};
    const std::uint64_t waited = e.waited() * event::k_unit;
    if (e.waited() != event::k_unknown && waited <= e.begin()) {
        s.ready_ns = in_ns(e.begin() - waited);
    }
    return s;
}

lane lane_of(const recorded_worker& from, const std::vector<std::uint32_t>& sites,
             merged_waits& waits) {
    const double ns = quern::detail::ns_per_tick();
    lane made{.pool = std::string(from.home.name()),
              .rank = from.rank,
              .thread = from.thread,
              .dropped = from.events->dropped(),
              .totals = from.after,
              .blocked_ns = from.blocked_ns};
    if (from.lost) {
        made.lost_ns = from.lost->all_ns;
        made.lost_idle_ns = from.lost->idle_ns;
    }
    made.slices.reserve(from.events->size());
    std::uint64_t index = 0;
    from.events->for_each([&](const event& e) {
        const std::span<const std::uint64_t> counts = from.events->counts_of(index++);
        const bool is_piece = e.kind() == event_kind::piece;
        const slice s = slice_of(e, ns, is_piece ? sites[e.site()] : 0);
        switch (e.kind()) {
            case event_kind::wait:
                waits.note(s.task, s.begin_ns, e.site());
                ++made.waits;
                break;
            case event_kind::piece:
                made.slices.push_back(s);
                made.events.insert(made.events.end(), counts.begin(), counts.end());
                break;
            case event_kind::parked:
                made.parked.push_back({s.begin_ns, s.end_ns});
                break;
            case event_kind::theft:
                made.thefts.push_back({s.begin_ns, static_cast<std::uint32_t>(e.task())});
                break;
            case event_kind::message:
                made.messages.push_back({.at_ns = s.begin_ns,
                                         .task = e.task(),
                                         .is_sent = e.flags() != 0,
                                         .peer = e.peer(),
                                         .tag = e.tag(),
                                         .bytes = e.length()});
                break;
            case event_kind::message_more:
                made.messages.back().order = e.begin();
                made.messages.back().context = e.length();
                break;
        }
    });
    return made;
}

template <class Visit>
void for_each_slice(std::vector<lane>& lanes, Visit visit) {
    for (lane& l : lanes) {
        for (slice& s : l.slices) {
            visit(s);
        }
    }
}

/// Only the first piece of a task records its parent; copies it to the later ones.
void spread_parents(std::vector<lane>& lanes) {
    std::unordered_map<std::uint64_t, std::uint64_t> parents;
    for_each_slice(lanes, [&](const slice& s) {
        if (!s.first) {
            parents.emplace(s.task, 0);
        }
    });
    for_each_slice(lanes, [&](const slice& s) {
        const auto at = s.first ? parents.find(s.task) : parents.end();
        if (at != parents.end()) {
            at->second = s.parent;
        }
    });
    for_each_slice(lanes, [&](slice& s) {
        if (!s.first) {
            s.parent = parents[s.task];
        }
    });
}

std::vector<spawn_count> count_spawns(std::vector<lane>& lanes) {
    task_sites makers;
    for_each_slice(lanes, [&](const slice& s) {
        if (s.first && s.parent != 0) {
            makers.emplace(s.parent, ~0U);
        }
    });
    for_each_slice(lanes, [&](const slice& s) {
        if (const auto at = makers.find(s.task); at != makers.end()) {
            at->second = s.site;
        }
    });
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> counts;
    for_each_slice(lanes, [&](const slice& s) {
        const auto at = s.first ? makers.find(s.parent) : makers.end();
        if (at != makers.end() && at->second != ~0U) {
            ++counts[{at->second, s.site}];
        }
    });
    std::vector<spawn_count> tree;
    tree.reserve(counts.size());
    for (const auto& [pair, tasks] : counts) {
        tree.push_back({pair.first, pair.second, tasks});
    }
    return tree;
}

}  // namespace

void assemble(recorder::state& s) {
    recording& made = s.made;
    merged_sites sites;
    merged_waits waits;
    worker_totals sum;
    std::uint64_t tasks = 0;
    made.events = describe_events(s.workers);
    for (recorded_worker& w : s.workers) {
        const std::vector<std::uint32_t> places = sites.add(w.events->sites(), w.stopped_share);
        waits.add(w.events->waits(), places);
        made.lanes.push_back(lane_of(w, places, waits));
        w.events->forget_events();
        made.tasks_seen += w.events->seen();
        sum += w.after;
    }
    made.sites = sites.give(made.events.size());
    for (const site& each : made.sites) {
        tasks += each.tasks;
    }
    made.waits = waits.give(made.lanes);
    // Places of other languages have lines, whatever the program is compiled with.
    const bool has_lines =
        std::ranges::any_of(made.sites, [](const site& each) { return !each.location.empty(); });
    if (tasks != 0 && !has_lines) {
        made.why_no_lines = quern::detail::why_no_lines();
    }
    spread_parents(made.lanes);
    made.tree = count_spawns(made.lanes);
    made.overhead_ns_per_task =
        sum.tasks == 0 ? 0.0 : sum.managing_ns / static_cast<double>(sum.tasks);
    if (made.tasks_seen == tasks) {
        const critical_chain chain = critical_chain_of(made);
        made.critical_path_ns = chain.total_ns;
        made.late_ends_ns = chain.late_ends_ns;
        for (std::size_t i = 0; i < made.sites.size(); ++i) {
            made.sites[i].critical_ns = chain.site_ns[i];
        }
    }
    s.workers.clear();
}

}  // namespace quern::trace::detail
