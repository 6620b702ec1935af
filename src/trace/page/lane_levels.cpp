// SPDX-License-Identifier: BSL-1.0
// The finest level is computed from the slices, each coarser one from the next finer level.
#include "page/lane_levels.hpp"

#include "page/packed_bytes.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace quern::trace::detail {

namespace {

constexpr std::size_t k_step = 8;
constexpr std::size_t k_coarsest = 512;          // cells
constexpr std::size_t k_of_many_lanes = 64;      // cells
constexpr std::size_t k_characters = 1'600'000;  // of one level, for all lanes together
constexpr std::uint64_t k_shortest_cell_ns = 100;

struct cell {
    double busy_ns = 0.0;
    double idle_ns = 0.0;
    double weight_ns = 0.0;  ///< the majority vote's weight of `site`
    std::uint8_t site = k_no_site;

    /// The majority vote of Boyer and Moore: finds the site with more than half of the time in one
    /// pass, or some large one if none has.
    void vote(std::uint8_t who, double ns) {
        if (who == site || weight_ns <= 0.0) {
            site = who;
            weight_ns = std::fabs(weight_ns) + ns;
        } else if (ns > weight_ns) {
            site = who;
            weight_ns = ns - weight_ns;
        } else {
            weight_ns -= ns;
        }
    }
};

/// Calls add(cell, ns) for each cell that the interval overlaps.
template <class Add>
void visit_cells(std::span<cell> cells, double width_ns, double begin_ns, double end_ns, Add add) {
    if (begin_ns >= width_ns * static_cast<double>(cells.size())) {
        return;
    }
    for (auto i = static_cast<std::size_t>(begin_ns / width_ns); i < cells.size(); ++i) {
        const double left = width_ns * static_cast<double>(i);
        const double part = std::min(end_ns, left + width_ns) - std::max(begin_ns, left);
        if (left >= end_ns) {
            return;
        }
        add(cells[i], std::max(part, 0.0));
    }
}

std::vector<cell> finest_cells(const lane& one, const std::vector<interval>& idle,
                               const page_sites& sites, double width_ns, std::size_t count) {
    std::vector<cell> cells(count);
    for (const slice& piece : one.slices) {
        const std::uint8_t who = sites.place(piece.site);
        visit_cells(cells, width_ns, static_cast<double>(piece.begin_ns),
                    static_cast<double>(piece.end_ns), [who](cell& c, double ns) {
                        c.busy_ns += ns;
                        c.vote(who, ns);
                    });
    }
    for (const interval& rest : idle) {
        visit_cells(cells, width_ns, static_cast<double>(rest.begin_ns),
                    static_cast<double>(rest.end_ns), [](cell& c, double ns) { c.idle_ns += ns; });
    }
    return cells;
}

std::vector<cell> coarser(const std::vector<cell>& fine) {
    std::vector<cell> cells(fine.size() / k_step);
    for (std::size_t i = 0; i < fine.size(); ++i) {
        cell& into = cells[i / k_step];
        into.busy_ns += fine[i].busy_ns;
        into.idle_ns += fine[i].idle_ns;
        if (fine[i].busy_ns > 0.0) {
            into.vote(fine[i].site, fine[i].busy_ns);
        }
    }
    return cells;
}

/// A non-zero part stays visible.
std::uint8_t share(double ns, double width_ns) {
    constexpr double k_whole = 255.0;
    return ns <= 0.0 ? std::uint8_t{0}
                     : static_cast<std::uint8_t>(
                           std::clamp(std::round(k_whole * ns / width_ns), 1.0, k_whole));
}

std::string encoded(const std::vector<cell>& cells, double width_ns) {
    packed_bytes bytes;
    for (const cell& c : cells) {
        bytes.byte(c.site);
        bytes.byte(share(c.busy_ns, width_ns));
        bytes.byte(share(c.idle_ns, width_ns));
    }
    return bytes.base64();
}

}  // namespace

std::vector<std::size_t> level_sizes(std::size_t lanes, std::uint64_t duration_ns) {
    constexpr std::size_t k_per_cell = 4;  // characters
    const std::size_t most = k_characters / k_per_cell / std::max<std::size_t>(lanes, 1);
    std::vector<std::size_t> sizes{most < k_coarsest ? k_of_many_lanes : k_coarsest};
    for (std::size_t next = sizes.back() * k_step;
         next <= most && duration_ns / next >= k_shortest_cell_ns; next *= k_step) {
        sizes.push_back(next);
    }
    return sizes;
}

std::vector<std::string> lane_levels(const lane& one, const std::vector<interval>& idle,
                                     const page_sites& sites, std::uint64_t duration_ns,
                                     const std::vector<std::size_t>& sizes) {
    const double duration = static_cast<double>(std::max<std::uint64_t>(duration_ns, 1));
    std::vector<std::string> levels(sizes.size());
    std::vector<cell> cells =
        finest_cells(one, idle, sites, duration / static_cast<double>(sizes.back()), sizes.back());
    for (std::size_t i = sizes.size(); i-- > 0;) {
        levels[i] = encoded(cells, duration / static_cast<double>(sizes[i]));
        cells = coarser(cells);
    }
    return levels;
}

}  // namespace quern::trace::detail
