// SPDX-License-Identifier: BSL-1.0
// nbody: steps of bodies that attract each other, with the kernel of apps/nbody. Size: the bodies.
// Value: million pairs a second with the best of several sizes of blocks.
#pragma once

#include "../../apps/nbody/bodies.hpp"
#include "../harness/grains.hpp"
#include "../harness/harness.hpp"

#include <cstddef>

namespace bench::nbody {

using ::nbody::bodies;

inline constexpr std::size_t k_sides[] = {16, 32, 64, 128, 256};  // bodies of a block
inline constexpr int k_steps = 4;

class answer {
public:
    explicit answer(const arguments& a) : m_n(static_cast<std::size_t>(a.size)), m_all(m_n, m_n) {
        advance_serially(m_all, k_steps);
    }

    /// how(bodies, steps) advances them.
    template <class How>
    measurement measured(const How& how) {
        return best_of(k_sides, [&](std::size_t side) {
            bodies all(m_n, side);
            const double start = now();
            how(all, k_steps);
            const double seconds = now() - start;
            if (!all.equals(m_all)) {
                throw wrong_answer("the bodies are not where those of the serial program are");
            }
            return static_cast<double>(m_n) * static_cast<double>(m_n) * k_steps / seconds / 1e6;
        });
    }

private:
    std::size_t m_n;
    bodies m_all;
};

}  // namespace bench::nbody
