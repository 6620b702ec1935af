// SPDX-License-Identifier: BSL-1.0
// What the two searches by simplex share: the first simplex, moves of vertices, and when to stop.
#pragma once

#include "strategies/search.hpp"

#include <vector>

namespace quern::adaptation::detail {

struct vertex {
    coordinates at;
    double cost = 0;
};

using simplex = std::vector<vertex>;

/// n + 1 points of equal distance around the start, turned at random and moved inside.
simplex first_simplex(const setup& given);

/// a + by * (a - b): 1 reflects b through a, 2 reflects and expands, -0.5 moves half of the way.
coordinates moved(const coordinates& a, const coordinates& b, double by);

/// Best first.
void sort_by_cost(simplex& all);

/// Whether every vertex stands for the same values, or all are within the tolerance of the best.
bool is_small(const setup& given, const simplex& all);

std::vector<coordinates> places_of(const simplex& all);

}  // namespace quern::adaptation::detail
