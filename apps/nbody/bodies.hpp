// SPDX-License-Identifier: BSL-1.0
// Bodies that attract each other, in blocks: the acceleration of a block is the sum over all
// blocks, added in their order, so every variant gives the same bits. Shared by the application and
// by bench/nbody; must not include a runtime.
#pragma once

#include "kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nbody {

/// All bodies, and what happens to a block.
class bodies {
public:
    bodies(std::size_t n, std::size_t side)
        : m_n(n),
          m_side(side),
          m_blocks((n + side - 1) / side),
          m_positions(3 * n),
          m_speeds(3 * n),
          m_accelerations(3 * n) {
        reset();
    }

    void reset() {
        std::uint64_t state = 1;
        const auto next = [&state] {
            state = state * 6364136223846793005U + 1442695040888963407U;
            return static_cast<double>(state >> 11) / 9007199254740992.0 - 0.5;  // 2^53
        };
        // Body by body, so that the blocks' size makes no difference.
        for (std::size_t i = 0; i < m_n; ++i) {
            for (std::size_t d = 0; d < 3; ++d) {
                element(m_positions, i, d) = next();
                element(m_speeds, i, d) = next();
            }
        }
        std::fill(m_accelerations.begin(), m_accelerations.end(), 0.0);
    }

    std::size_t size() const { return m_n; }
    std::size_t blocks() const { return m_blocks; }

    vectors positions(std::size_t i) { return block(m_positions, i); }
    vectors speeds(std::size_t i) { return block(m_speeds, i); }
    vectors accelerations(std::size_t i) { return block(m_accelerations, i); }

    void attract(std::size_t i, std::size_t j) {
        nbody::attract(positions(i), positions(j), 1 / static_cast<double>(m_n), accelerations(i));
    }
    void move(std::size_t i) { nbody::move(positions(i), speeds(i), accelerations(i)); }

    bool equals(bodies& other) {
        for (std::size_t i = 0; i < m_n; ++i) {
            for (std::size_t d = 0; d < 3; ++d) {
                if (element(m_positions, i, d) != other.element(other.m_positions, i, d) ||
                    element(m_speeds, i, d) != other.element(other.m_speeds, i, d)) {
                    return false;
                }
            }
        }
        return true;
    }

    /// The sum of all momenta in one direction. Forces between two bodies cancel each other.
    double momentum(std::size_t direction) {
        double sum = 0;
        for (std::size_t i = 0; i < m_n; ++i) {
            sum += element(m_speeds, i, direction) / static_cast<double>(m_n);
        }
        return sum;
    }

private:
    vectors block(std::vector<double>& of, std::size_t i) {
        return {of.data() + 3 * m_side * i, std::min(m_side, m_n - i * m_side)};
    }
    double& element(std::vector<double>& of, std::size_t body, std::size_t direction) {
        const vectors v = block(of, body / m_side);
        return v.x[direction * v.n + body % m_side];
    }

    std::size_t m_n;
    std::size_t m_side;
    std::size_t m_blocks;
    std::vector<double> m_positions;  ///< block after block; within it as `vectors`
    std::vector<double> m_speeds;
    std::vector<double> m_accelerations;
};

/// Requires: the blocks have been reset, or moved.
inline void advance_serially(bodies& all, int steps) {
    for (int s = 0; s < steps; ++s) {
        for (std::size_t i = 0; i < all.blocks(); ++i) {
            for (std::size_t j = 0; j < all.blocks(); ++j) {
                all.attract(i, j);
            }
        }
        for (std::size_t i = 0; i < all.blocks(); ++i) {
            all.move(i);
        }
    }
}

}  // namespace nbody
