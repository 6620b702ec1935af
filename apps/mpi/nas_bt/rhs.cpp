// SPDX-License-Identifier: BSL-1.0
// The right-hand side: central differences of fluxes, viscous terms and dissipation, by one formula
// for all directions. Source: RNR-94-007, 3.1 and 3.3.
#include "kernels.hpp"
#include "state.hpp"

#include <array>
#include <cstddef>

namespace nas_bt {

namespace {

lanes second_difference(lanes before, lanes here, lanes after) {
    return after - 2.0 * here + before;
}

/// Two points side by side in x, or one twice.
struct pair_of_points {
    triple index;
    std::ptrdiff_t offset;
    std::ptrdiff_t beside;
};

/// The momentum and energy that flow across a plane in the present direction.
vector5 flux_of(const vector5& u, const state& s) {
    vector5 f;
    const lanes pressure = k_pressure * (u.at[4] - s.motion * u.at[0]);
    f.at[0] = u.at[1];
    for (std::size_t m = 1; m < 4; ++m) {
        f.at[m] = u.at[m] * s.velocity[0];
    }
    f.at[1] += pressure;
    f.at[4] = (u.at[4] + pressure) * s.velocity[0];
    return f;
}

/// Adds the derivatives of one direction, in its order of components. `edge`: 1 / spacing.
void add_derivatives(vector5& sum, const vector5& before, const vector5& here, const vector5& after,
                     double edge, double second_order) {
    const state a = state_of(before);
    const state b = state_of(here);
    const state c = state_of(after);
    const vector5 in = flux_of(before, a);
    const vector5 out = flux_of(after, c);
    const double second = edge * edge;
    for (std::size_t m = 0; m < 5; ++m) {
        sum.at[m] +=
            second_order * second * second_difference(before.at[m], here.at[m], after.at[m]) -
            edge / 2 * (out.at[m] - in.at[m]);
    }
    const double viscous = k_viscosity * second;
    const double conductive = k_conductivity * second;
    for (std::size_t m = 0; m < 3; ++m) {
        sum.at[1 + m] += (m == 0 ? k_along * viscous : viscous) *
                         second_difference(a.velocity[m], b.velocity[m], c.velocity[m]);
    }
    sum.at[4] += (viscous - conductive) * second_difference(a.motion, b.motion, c.motion) +
                 viscous / 6 *
                     second_difference(a.velocity[0] * a.velocity[0], b.velocity[0] * b.velocity[0],
                                       c.velocity[0] * c.velocity[0]) +
                 conductive * second_difference(a.energy, b.energy, c.energy);
}

/// Adds all terms of direction d, in its order of components.
void add_direction(const cell& c, std::size_t d, const components& u, const pair_of_points& p,
                   vector5& sum) {
    vector5 around[5];
    for (std::ptrdiff_t k = 0; k < 5; ++k) {
        around[k] = load(u, p.offset + (k - 2) * c.stride(d), p.beside);
    }
    add_derivatives(sum, around[1], around[2], around[3], static_cast<double>(c.n() - 1),
                    k_second_order[d]);
    const std::ptrdiff_t beside = d == 0 ? p.beside : 0;
    for (std::size_t k = 0; k < 5; ++k) {
        const double* const weights = c.dissipation(d, k) + p.index[d];
        const lanes weight = k_fourth_order * lanes{weights[0], weights[beside]};
        for (std::size_t m = 0; m < 5; ++m) {
            sum.at[m] -= weight * around[k].at[m];
        }
    }
}

}  // namespace

void find_rhs(cell& c, const range& planes, double scale) {
    constexpr std::array<std::size_t, 5> k_orders[3] = {
        order_of_components(0), order_of_components(1), order_of_components(2)};
    const components forcing = c.forcing().in_order(k_orders[0]);
    const components rhs = c.rhs().in_order(k_orders[0]);
    const components u[3] = {c.u().in_order(k_orders[0]), c.u().in_order(k_orders[1]),
                             c.u().in_order(k_orders[2])};
    for (std::ptrdiff_t z = planes.first; z < planes.last; ++z) {
        for (std::ptrdiff_t y = 0; y < c.size(1); ++y) {
            for (std::ptrdiff_t x = 0; x < c.size(0); x += k_lanes) {
                const pair_of_points p{{x, y, z},
                                       x * c.stride(0) + y * c.stride(1) + z * c.stride(2),
                                       x + 1 < c.size(0) ? 1 : 0};
                vector5 sum = load(forcing, p.offset, p.beside);
                for (std::size_t d = 0; d < 3; ++d) {
                    vector5 part{};
                    add_direction(c, d, u[d], p, part);
                    for (std::size_t m = 0; m < 5; ++m) {
                        sum.at[k_orders[d][m]] += part.at[m];
                    }
                }
                for (lanes& each : sum.at) {
                    each *= scale;
                }
                store(sum, rhs, p.offset, p.beside);
            }
        }
    }
}

}  // namespace nas_bt
