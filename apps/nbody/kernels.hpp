// SPDX-License-Identifier: BSL-1.0
// What happens to a block of bodies. Shared by the application and by bench/nbody. Compiled once,
// in kernels.cpp, so that all variants run the same instructions.
#pragma once

#include <cstddef>
#include <span>

namespace nbody {

/// Three numbers for each of n bodies: all x, then all y, then all z.
struct vectors {
    double* x;
    std::size_t n;

    double* y() const { return x + n; }
    double* z() const { return x + 2 * n; }
    std::span<double> numbers() const { return {x, 3 * n}; }
};

/// Adds to the accelerations `sum` of the bodies at `here` what those at `there`, of that mass
/// each, do.
void attract(const vectors& here, const vectors& there, double mass, const vectors& sum);

/// A step of time; then the accelerations are 0 again.
void move(const vectors& position, const vectors& speed, const vectors& acceleration);

}  // namespace nbody
