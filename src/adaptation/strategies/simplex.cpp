// SPDX-License-Identifier: BSL-1.0
// The state machines of Nelder-Mead and of Parallel Rank Ordering as Active Harmony 4.6 runs them,
// with its defects mended: points outside cost +infinity in both, and every cost belongs to a
// point.
#include "strategies/simplex.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

namespace quern::adaptation::detail {

namespace {

constexpr double k_reflect = 1.0;
constexpr double k_expand = 2.0;
constexpr double k_contract = -0.5;
constexpr double k_shrink = -0.5;
constexpr double k_radius = 0.25;  // of the range: Active Harmony's INIT_RADIUS / 2

/// Vertices of a regular simplex around the origin, of distance 1 from it.
std::vector<coordinates> regular_simplex(std::size_t n) {
    std::vector<coordinates> all(n + 1, coordinates(n, 0.0));
    for (std::size_t i = 0; i < n; ++i) {
        double rest = 1;
        for (std::size_t j = 0; j < i; ++j) {
            rest -= all[i][j] * all[i][j];
        }
        all[i][i] = std::sqrt(std::max(rest, 0.0));
        for (std::size_t k = i + 1; k <= n; ++k) {  // every product of two vertices is -1/n
            double product = -1.0 / static_cast<double>(n);
            for (std::size_t j = 0; j < i; ++j) {
                product -= all[i][j] * all[k][j];
            }
            all[k][i] = product / all[i][i];
        }
    }
    return all;
}

void turn(std::vector<coordinates>& all, std::size_t i, std::size_t j, double angle) {
    for (coordinates& each : all) {
        const double x = each[i];
        const double y = each[j];
        each[i] = x * std::cos(angle) - y * std::sin(angle);
        each[j] = x * std::sin(angle) + y * std::cos(angle);
    }
}

coordinates centre_of(simplex::const_iterator first, simplex::const_iterator last) {
    coordinates centre(first->at.size(), 0.0);
    for (auto each = first; each != last; ++each) {
        for (std::size_t i = 0; i < centre.size(); ++i) {
            centre[i] += each->at[i];
        }
    }
    for (double& each : centre) {
        each /= static_cast<double>(last - first);
    }
    return centre;
}

request one(coordinates where) {
    request wanted;
    wanted.points.push_back(std::move(where));
    return wanted;
}

simplex with_costs(const std::vector<coordinates>& places, const std::vector<measured>& results) {
    simplex all(places.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = {places[i], results[i].cost};
    }
    return all;
}

/// Every vertex moved about the best, which is the first and stays.
std::vector<coordinates> all_moved(const simplex& all, double by) {
    std::vector<coordinates> places;
    for (std::size_t i = 1; i < all.size(); ++i) {
        places.push_back(moved(all.front().at, all[i].at, by));
    }
    return places;
}

std::size_t least_of(const simplex& all) {
    const auto at =
        std::min_element(all.begin(), all.end(), [](auto& a, auto& b) { return a.cost < b.cost; });
    return static_cast<std::size_t>(at - all.begin());
}

}  // namespace

simplex first_simplex(const setup& given) {
    const std::size_t n = given.dimensions();
    std::vector<coordinates> all = regular_simplex(n);
    random_numbers random(given.seed);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            turn(all, i, j, 2 * std::numbers::pi * random.next());
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        double low = 0;
        double high = 1;
        for (coordinates& each : all) {
            each[i] = given.start[i] + k_radius * each[i];
            low = std::min(low, each[i]);
            high = std::max(high, each[i]);
        }
        for (coordinates& each : all) {
            each[i] -= low < 0 ? low : high - 1;
        }
    }
    simplex made(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        made[i].at = std::move(all[i]);
    }
    return made;
}

coordinates moved(const coordinates& a, const coordinates& b, double by) {
    coordinates there(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        there[i] = a[i] + by * (a[i] - b[i]);
    }
    return there;
}

void sort_by_cost(simplex& all) {
    std::stable_sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.cost < b.cost; });
}

bool is_small(const setup& given, const simplex& all) {
    bool is_one_point = true;
    double farthest = 0;
    for (const vertex& each : all) {
        double square = 0;
        for (std::size_t i = 0; i < each.at.size(); ++i) {
            const parameter& of = given.parameters[i];
            is_one_point = is_one_point && of.cells() != 0 &&
                           of.value_at(each.at[i]) == of.value_at(all.front().at[i]);
            const double d = each.at[i] - all.front().at[i];
            square += d * d;
        }
        farthest = std::max(farthest, square);
    }
    const double diagonal = std::sqrt(static_cast<double>(given.dimensions()));
    return is_one_point || std::sqrt(farthest) < given.tolerance * diagonal;
}

std::vector<coordinates> places_of(const simplex& all) {
    std::vector<coordinates> places;
    for (const vertex& each : all) {
        places.push_back(each.at);
    }
    return places;
}

search run_nelder_mead(setup given) {
    request first = one(given.start);
    const std::vector<coordinates> corners = places_of(first_simplex(given));
    first.points.insert(first.points.end(), corners.begin(), corners.end());
    simplex all = with_costs(first.points, co_await first);
    sort_by_cost(all);
    all.resize(corners.size());  // the start, if it is good, and the better corners
    while (!is_small(given, all)) {
        vertex& worst = all.back();
        const coordinates centre = centre_of(all.begin(), all.end() - 1);
        vertex reflected{moved(centre, worst.at, k_reflect), 0};
        reflected.cost = (co_await one(reflected.at)).front().cost;
        if (reflected.cost < all.front().cost) {
            const coordinates far = moved(centre, worst.at, k_expand);
            const double cost = (co_await one(far)).front().cost;
            worst = cost < reflected.cost ? vertex{far, cost} : reflected;
        } else if (reflected.cost < worst.cost) {
            worst = reflected;
        } else {
            const coordinates near = moved(centre, worst.at, k_contract);
            const double cost = (co_await one(near)).front().cost;
            if (cost < worst.cost) {
                worst = {near, cost};
            } else {
                request shrunk;
                shrunk.points = all_moved(all, k_shrink);
                const simplex rest = with_costs(shrunk.points, co_await shrunk);
                std::copy(rest.begin(), rest.end(), all.begin() + 1);
            }
        }
        sort_by_cost(all);
    }
    co_return ending{"the simplex is smaller than the tolerance"};
}

search run_parallel_rank_order(setup given) {
    request first = one(given.start);
    const std::vector<coordinates> corners = places_of(first_simplex(given));
    first.points.insert(first.points.end(), corners.begin(), corners.end());
    simplex all = with_costs(first.points, co_await first);
    sort_by_cost(all);
    all.resize(corners.size());
    while (!is_small(given, all)) {
        request step;
        step.points = all_moved(all, k_reflect);
        const simplex reflected = with_costs(step.points, co_await step);
        const std::size_t best = least_of(reflected);
        simplex next;
        if (reflected[best].cost < all.front().cost) {
            // Only the expansion of the best one says whether to expand them all.
            const auto one_far = co_await one(moved(all.front().at, all[best + 1].at, k_expand));
            next = reflected;
            if (one_far.front().cost < reflected[best].cost) {
                step.points = all_moved(all, k_expand);
                const simplex expanded = with_costs(step.points, co_await step);
                const bool all_inside = std::all_of(expanded.begin(), expanded.end(),
                                                    [](auto& v) { return std::isfinite(v.cost); });
                next = all_inside ? expanded : reflected;
            }
        } else {
            step.points = all_moved(all, k_shrink);
            next = with_costs(step.points, co_await step);
        }
        next.insert(next.begin(), all.front());
        all = std::move(next);
        sort_by_cost(all);
    }
    co_return ending{"the simplex is smaller than the tolerance"};
}

}  // namespace quern::adaptation::detail
