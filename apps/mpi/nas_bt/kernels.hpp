// SPDX-License-Identifier: BSL-1.0
// What is computed in a cell. Compiled once, in rhs.cpp and sweep.cpp, so that all variants run the
// same instructions. Different planes may be worked on at the same time.
#pragma once

#include "cell.hpp"
#include "lanes.hpp"

namespace nas_bt {

/// In planes of z: rhs = scale * (forcing + spatial differences of u). Reads u two points around.
void find_rhs(cell& c, const range& planes, double scale);

// A sweep along direction d solves a block tridiagonal system for each line of points, by Thomas's
// algorithm. `before` and `after` are of the first of the planes, a pair of lines after the other.

/// Forward, through one cell: from `before`, what the cell before has left, or null in the first
/// cell, to `after`, or null in the last one. Reads u one point around.
void eliminate(cell& c, std::size_t d, const range& planes, const reduced* before, reduced* after);

/// Backward: from `after`, the solution in the cell after, or null in the last cell, to `before`,
/// or null in the first one. The last direction, z, adds the solution to u.
void substitute(cell& c, std::size_t d, const range& planes, const vector5* after, vector5* before);

/// Both, where one cell has whole lines.
void solve(cell& c, std::size_t d, const range& planes);

}  // namespace nas_bt
