// SPDX-License-Identifier: BSL-1.0
// The equations of the NAS benchmark BT and its classes: constants, exact solution, first values,
// published answers. Source: Bailey et al., The NAS Parallel Benchmarks, RNR-94-007, 3 and 5;
// published answers as in NPB 3.
#pragma once

#include "../../common/cli.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace nas_bt {

/// Density, momentum in x, y and z, energy.
using five = std::array<double, 5>;

struct problem_class {
    std::string_view name;
    std::ptrdiff_t n;  ///< points along each edge of the cube
    int steps;
    double dt;
    five residual;  ///< root mean squares after the last step: the right answers
    five error;

    double spacing() const { return 1 / static_cast<double>(n - 1); }
    /// Operations of all steps, as the benchmark counts them.
    double operations() const {
        const double edge = static_cast<double>(n);
        return steps * ((3478.8 * edge - 17655.7) * edge + 28023.7) * edge;
    }
};
inline constexpr problem_class k_classes[] = {
    {"S",
     12,
     60,
     0.01,
     {1.7034283709541311e-01, 1.2975252070034097e-02, 3.2527926989486055e-02,
      2.6436421275166801e-02, 1.9211784131744430e-01},
     {4.9976913345811579e-04, 4.5195666782961927e-05, 7.3973765172921357e-05,
      7.3821238632439731e-05, 8.9269630987491446e-04}},
    {"W",
     24,
     200,
     0.0008,
     {1.125590409344e+02, 1.180007595731e+01, 2.710329767846e+01, 2.469174937669e+01,
      2.638427874317e+02},
     {4.419655736008e+00, 4.638531260002e-01, 1.011551749967e+00, 9.235878729944e-01,
      1.018045837718e+01}},
    {"A",
     64,
     200,
     0.0008,
     {1.0806346714637264e+02, 1.1319730901220813e+01, 2.5974354511582465e+01,
      2.3665622544678910e+01, 2.5278963211748344e+02},
     {4.2348416040525025e+00, 4.4390282496995698e-01, 9.6692480136345650e-01,
      8.8302063039765474e-01, 9.7379901770829278e+00}},
};

// Of the gas. Source: RNR-94-007, 3.1, where they are k1, k2, k3 k4 and k1 k5 k3 k4.
inline constexpr double k_heat_ratio = 1.4;
inline constexpr double k_pressure = 0.4;  ///< of energy without motion
inline constexpr double k_viscosity = 0.1;
inline constexpr double k_conductivity = k_heat_ratio * 1.4 * k_viscosity;
/// Of the momentum along the direction of a derivative, times the viscosity.
inline constexpr double k_along = 4.0 / 3;
/// Artificial dissipation: of second order in x, y and z, and of fourth order.
inline constexpr std::array<double, 3> k_second_order = {0.75, 0.75, 1};
inline constexpr double k_fourth_order = 0.25;

/// Coordinates from 0 to 1.
inline five exact_solution(const std::array<double, 3>& at) {
    // A constant, then the coefficients of each power of x, y, z in turns.
    constexpr double k_coefficients[5][13] = {
        {2, 0, 0, 4, 5, 3, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
        {1, 0, 0, 0, 1, 2, 3, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
        {2, 2, 0, 0, 0, 2, 3, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
        {2, 2, 0, 0, 0, 2, 3, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
        {5, 4, 3, 2, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
    };
    five all{};
    for (std::size_t m = 0; m < 5; ++m) {
        all[m] = k_coefficients[m][0];
        for (std::size_t d = 0; d < 3; ++d) {
            double sum = 0;
            for (std::size_t power = 4; power > 0; --power) {
                sum = at[d] * (k_coefficients[m][3 * (power - 1) + d + 1] + sum);
            }
            all[m] += sum;
        }
    }
    return all;
}

/// The exact solution on the faces of the cube; inside, interpolated between those.
inline five first_values(const std::array<double, 3>& at) {
    five rest{1, 1, 1, 1, 1};
    for (std::size_t d = 0; d < 3; ++d) {
        if (at[d] == 0 || at[d] == 1) {
            return exact_solution(at);
        }
        std::array<double, 3> on_face = at;
        on_face[d] = 0;
        const five begin = exact_solution(on_face);
        on_face[d] = 1;
        const five end = exact_solution(on_face);
        for (std::size_t m = 0; m < 5; ++m) {
            rest[m] *= 1 - (at[d] * end[m] + (1 - at[d]) * begin[m]);
        }
    }
    // a + b + c - a b - a c - b c + a b c
    for (double& each : rest) {
        each = 1 - each;
    }
    return rest;
}

}  // namespace nas_bt
