// SPDX-License-Identifier: BSL-1.0
// What both kernels need of the gas at a point. Used only by rhs.cpp and sweep.cpp.
#pragma once

#include "lanes.hpp"

namespace nas_bt {

/// Per unit of mass.
struct state {
    lanes volume;
    lanes velocity[3];  ///< along the present direction, then across it
    lanes energy;
    lanes motion;  ///< kinetic energy
};

inline state state_of(const vector5& u) {
    state s;
    s.volume = 1.0 / u.at[0];
    for (std::size_t d = 0; d < 3; ++d) {
        s.velocity[d] = u.at[1 + d] * s.volume;
    }
    s.energy = u.at[4] * s.volume;
    s.motion = 0.5 * (s.velocity[0] * s.velocity[0] + s.velocity[1] * s.velocity[1] +
                      s.velocity[2] * s.velocity[2]);
    return s;
}

}  // namespace nas_bt
