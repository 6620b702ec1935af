// SPDX-License-Identifier: BSL-1.0
// The pieces in order of their beginning; each carries the length of the longest chain that ends
// where it begins.
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
    double before = 0.0;         ///< the chain up to its beginning
    const link* last = nullptr;  ///< the piece of the same task before it

    double chain_at(std::uint64_t ns) const {
        const std::uint64_t end = std::clamp(ns, what->begin_ns, what->end_ns);
        return before + static_cast<double>(end - what->begin_ns);
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

}  // namespace

double critical_path(const recording& run) {
    std::vector<link> all = links_of(run);
    std::unordered_map<std::uint64_t, const link*> latest;  // of each task
    std::vector<const link*> on_lane(run.lanes.size());
    double longest = 0.0;
    for (link& each : all) {
        const slice& s = *each.what;
        if (const link* const own = std::exchange(latest[s.task], &each)) {
            each.last = own;
            each.before = own->chain_at(s.begin_ns);
        }
        const link*& here = on_lane[each.lane];
        if (s.continued && here != nullptr) {  // after the one that ran in its place
            each.before = std::max(each.before, here->chain_at(s.begin_ns));
        }
        here = &each;
        const auto maker = s.cause != 0 && s.cause != s.task ? latest.find(s.cause) : latest.end();
        if (maker != latest.end()) {
            const std::uint64_t at = s.ready_ns != 0 ? s.ready_ns : s.begin_ns;
            const link* from = maker->second;
            while (from->what->begin_ns > at && from->last != nullptr) {
                from = from->last;
            }
            each.before = std::max(each.before, from->chain_at(at));
        }
        longest = std::max(longest, each.chain_at(s.end_ns));
    }
    return longest;
}

}  // namespace quern::trace
