// SPDX-License-Identifier: BSL-1.0
// The innermost loop has no sum, so compilers vectorise it, if sqrt() need not set errno.
#include "kernels.hpp"

#include <cmath>

namespace nbody {

namespace {

void attract_to(double bx, double by, double bz, double mass, std::size_t n,
                const double* __restrict x, const double* __restrict y, const double* __restrict z,
                double* __restrict sum_x, double* __restrict sum_y, double* __restrict sum_z) {
    constexpr double k_softening = 1e-4;  // squared distance; also for a body and itself
    for (std::size_t i = 0; i < n; ++i) {
        const double dx = bx - x[i];
        const double dy = by - y[i];
        const double dz = bz - z[i];
        const double square = dx * dx + dy * dy + dz * dz + k_softening;
        const double factor = mass / (square * std::sqrt(square));
        sum_x[i] += factor * dx;
        sum_y[i] += factor * dy;
        sum_z[i] += factor * dz;
    }
}

}  // namespace

void attract(const vectors& here, const vectors& there, double mass, const vectors& sum) {
    for (std::size_t i = 0; i < there.n; ++i) {
        attract_to(there.x[i], there.y()[i], there.z()[i], mass, here.n, here.x, here.y(), here.z(),
                   sum.x, sum.y(), sum.z());
    }
}

void move(const vectors& position, const vectors& speed, const vectors& acceleration) {
    constexpr double k_step = 1e-3;
    for (std::size_t i = 0; i < 3 * position.n; ++i) {
        speed.x[i] += k_step * acceleration.x[i];
        position.x[i] += k_step * speed.x[i];
        acceleration.x[i] = 0;
    }
}

}  // namespace nbody
