// SPDX-License-Identifier: BSL-1.0
// The searches without a model of the cost: all points, random points, hill climbing, annealing.
#include "strategies/search.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

namespace quern::adaptation::detail {

namespace {

constexpr std::size_t k_at_once = 16;  // points that several askers may measure together (guessed)

coordinates random_point(std::size_t dimensions, random_numbers& random) {
    coordinates where(dimensions);
    for (double& each : where) {
        each = random.next();
    }
    return where;
}

/// Counts up, the first parameter fastest. False after the last point.
bool next_index(std::vector<std::size_t>& index, const std::vector<parameter>& parameters) {
    for (std::size_t i = 0; i < index.size(); ++i) {
        if (++index[i] < parameters[i].cells()) {
            return true;
        }
        index[i] = 0;
    }
    return false;
}

coordinates middle_of(const std::vector<std::size_t>& index,
                      const std::vector<parameter>& parameters) {
    coordinates where(index.size());
    for (std::size_t i = 0; i < index.size(); ++i) {
        where[i] =
            (static_cast<double>(index[i]) + 0.5) / static_cast<double>(parameters[i].cells());
    }
    return where;
}

std::size_t least_of(const std::vector<measured>& results) {
    const auto at = std::min_element(results.begin(), results.end(),
                                     [](auto& a, auto& b) { return a.cost < b.cost; });
    return static_cast<std::size_t>(at - results.begin());
}

/// The neighbours of a point, one step away in each direction, as far as they are inside.
std::vector<coordinates> around(const coordinates& here, const std::vector<double>& steps) {
    std::vector<coordinates> all;
    for (std::size_t i = 0; i < here.size(); ++i) {
        for (const double by : {-steps[i], steps[i]}) {
            coordinates there = here;
            there[i] += by;
            if (there[i] >= 0 && there[i] <= 1) {
                all.push_back(std::move(there));
            }
        }
    }
    return all;
}

}  // namespace

search measure_start(setup given) {
    request only;
    only.points.push_back(given.start);
    co_await only;
    co_return ending{"measured"};
}

search search_exhaustively(setup given) {
    std::vector<std::size_t> index(given.dimensions(), 0);
    for (bool more = true; more;) {
        request next;
        while (more && next.points.size() < k_at_once) {
            next.points.push_back(middle_of(index, given.parameters));
            more = next_index(index, given.parameters);
        }
        co_await next;
    }
    co_return ending{"every point has been tried"};
}

search search_at_random(setup given) {
    random_numbers random(given.seed);
    request next;
    next.points.push_back(given.start);
    for (;;) {
        while (next.points.size() < k_at_once) {
            next.points.push_back(random_point(given.dimensions(), random));
        }
        co_await next;  // the limit of trials ends it
        next.points.clear();
    }
    co_return ending{""};
}

/// With a step of one cell this is the rule of APEX's throttling: measure this value and both
/// neighbours, move to the best. Here the step begins with a quarter of the range and is halved
/// when no neighbour is better.
search climb_hills(setup given) {
    coordinates here = given.start;
    std::vector<double> steps(given.dimensions());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        steps[i] = std::max(0.25, given.cell(i));
    }
    request first;
    first.points.push_back(here);
    double cost = (co_await first).front().cost;
    for (;;) {
        request next;
        next.points = around(here, steps);
        if (!next.points.empty()) {
            const std::vector<measured> results = co_await next;
            const std::size_t best = least_of(results);
            if (results[best].cost < cost) {
                cost = results[best].cost;
                here = next.points[best];
                continue;
            }
        }
        bool is_finer = false;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (steps[i] > given.cell(i) && steps[i] > given.tolerance) {
                steps[i] = std::max(steps[i] / 2, given.cell(i));
                is_finer = true;
            }
        }
        if (!is_finer) {
            co_return ending{"no neighbour is better"};
        }
    }
}

/// The temperature falls from 1 to 0 in as many steps as there are trials; it is the reach of a
/// move and, relative to the cost, the rise that is accepted. Ten times on the way the search
/// returns to the best point.
search anneal(setup given) {
    constexpr std::size_t k_returns = 10;
    double cells = 0;
    for (const parameter& each : given.parameters) {
        cells += each.cells() == 0 ? 100 : static_cast<double>(each.cells());
    }
    const auto moves = static_cast<std::size_t>(std::clamp(4 * cells, 30.0, 500.0));  // as APEX
    random_numbers random(given.seed);
    coordinates here = given.start;
    coordinates best = here;
    request next;
    next.points.push_back(here);
    double cost = (co_await next).front().cost;
    double least = cost;
    for (std::size_t k = 0; k < moves; ++k) {
        if (k % std::max<std::size_t>(1, moves / k_returns) == 0) {
            here = best;
            cost = least;
        }
        const double heat = 1 - static_cast<double>(k) / static_cast<double>(moves);
        coordinates there = here;
        for (std::size_t i = 0; i < there.size(); ++i) {
            const double reach = std::max(heat / 2, given.cell(i));
            there[i] = std::clamp(here[i] + reach * (2 * random.next() - 1), 0.0, 1.0);
        }
        next.points.assign(1, there);
        const double found = (co_await next).front().cost;
        const double rise = (found - cost) / std::max(std::abs(cost), 1e-300);
        if (rise <= 0 || random.next() < std::exp(-rise / (0.1 * heat))) {
            here = there;
            cost = found;
        }
        if (found < least) {
            least = found;
            best = there;
        }
    }
    co_return ending{"it has cooled down after " + std::to_string(moves) + " moves"};
}

}  // namespace quern::adaptation::detail
