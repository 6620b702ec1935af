// SPDX-License-Identifier: BSL-1.0
// Processes pieces in order of their beginning; each has the length of the longest chain that ends
// at its beginning.
#include <quern/trace/critical_path.hpp>

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace quern::trace {

namespace {

constexpr std::size_t k_most_slices = 4'000'000;

struct link {
    const slice* what = nullptr;
    std::uint32_t lane = 0;
    double before = 0.0;         ///< length of the chain up to its beginning
    link* last = nullptr;        ///< the previous piece of the same task
    const link* from = nullptr;  ///< predecessor in the chain, left at from_ns
    std::uint64_t from_ns = 0;
    std::uint64_t last_made_ns = 0;  ///< when it last created or woke another task

    double chain_at(std::uint64_t ns) const {
        const std::uint64_t end = std::clamp(ns, what->begin_ns, what->end_ns);
        return before + static_cast<double>(end - what->begin_ns);
    }
    void follow(const link& other, std::uint64_t ns) {
        if (other.chain_at(ns) > before) {
            before = other.chain_at(ns);
            from = &other;
            from_ns = ns;
        }
    }
};

std::vector<link> links_of(const recording& run) {
    std::vector<link> all;
    std::uint32_t number = 0;
    for (const lane& l : run.lanes) {
        if (l.dropped != 0 || all.size() + l.slices.size() > k_most_slices) {
            return {};
        }
        for (const slice& s : l.slices) {
            all.push_back({.what = &s, .lane = number});
        }
        ++number;
    }
    std::sort(all.begin(), all.end(), [](const link& a, const link& b) {
        return std::tuple(a.what->begin_ns, a.lane, a.what->end_ns) <
               std::tuple(b.what->begin_ns, b.lane, b.what->end_ns);
    });
    return all;
}

/// Follows the longest chain from its end to its beginning.
critical_chain along(const link* last, std::size_t sites) {
    critical_chain chain{.site_ns = std::vector<double>(sites)};
    std::uint64_t at = last != nullptr ? last->what->end_ns : 0;
    for (const link* each = last; each != nullptr; each = each->from) {
        const double here = each->chain_at(at) - each->before;
        chain.total_ns += here;
        if (each->what->site < sites) {
            chain.site_ns[each->what->site] += here;
        }
        at = each->from_ns;
    }
    return chain;
}

/// A task that ends soon after it created or woke another may be interrupted in between: the system
/// runs the woken thread first. Returns the part of such ends beyond four times their median.
double late_ends(const std::vector<link>& all, std::size_t sites) {
    constexpr double k_usual = 4.0;  // medians (guessed)
    std::vector<std::vector<double>> ends(sites);
    for (const link& each : all) {
        const slice& s = *each.what;
        if (each.last_made_ns >= s.begin_ns && each.last_made_ns < s.end_ns && s.site < sites) {
            ends[s.site].push_back(static_cast<double>(s.end_ns - each.last_made_ns));
        }
    }
    double sum = 0.0;
    for (std::vector<double>& lengths : ends) {
        const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
        std::nth_element(lengths.begin(), middle, lengths.end());
        const double usual = lengths.empty() ? 0.0 : k_usual * *middle;
        for (const double length : lengths) {
            sum += std::max(0.0, length - usual);
        }
    }
    return sum;
}

}  // namespace

critical_chain critical_chain_of(const recording& run) {
    std::vector<link> all = links_of(run);
    std::unordered_map<std::uint64_t, link*> latest;  // piece of each task
    std::vector<const link*> on_lane(run.lanes.size());
    const link* longest = nullptr;
    for (link& each : all) {
        const slice& s = *each.what;
        if (link* const own = std::exchange(latest[s.task], &each)) {
            each.last = own;
            each.follow(*own, s.begin_ns);
        }
        const link*& here = on_lane[each.lane];
        if (s.continued && here != nullptr) {  // after an inlined task ended
            each.follow(*here, s.begin_ns);
        }
        here = &each;
        const auto maker = s.cause != 0 && s.cause != s.task ? latest.find(s.cause) : latest.end();
        if (maker != latest.end()) {
            const std::uint64_t at = s.ready_ns != 0 ? s.ready_ns : s.begin_ns;
            link* from = maker->second;
            while (from->what->begin_ns > at && from->last != nullptr) {
                from = from->last;
            }
            from->last_made_ns = std::max(from->last_made_ns, at);
            each.follow(*from, at);
        }
        if (longest == nullptr ||
            each.chain_at(s.end_ns) > longest->chain_at(longest->what->end_ns)) {
            longest = &each;
        }
    }
    critical_chain chain = along(longest, run.sites.size());
    chain.late_ends_ns = late_ends(all, run.sites.size());
    return chain;
}

double parallelism_of(const recording& run) {
    if (!(run.critical_path_ns > 0.0)) {
        return 0.0;
    }
    double work = 0.0;
    for (const lane& each : run.lanes) {
        work += each.totals.running_ns;
    }
    double in_tasks = 0.0;  // excludes interruptions of a worker between two tasks
    for (const site& each : run.sites) {
        in_tasks += each.total_ns;
    }
    work = in_tasks > 0.0 ? std::min(work, in_tasks) : work;
    const double interrupted = std::min({work, run.late_ends_ns, run.taken.total_ns()});
    return std::max(1.0, (work - interrupted) / run.critical_path_ns);
}

}  // namespace quern::trace
