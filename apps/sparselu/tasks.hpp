// SPDX-License-Identifier: BSL-1.0
// The factorisation on Quern: tasks ordered by their blocks, and loops with barriers. Called by the
// application and by bench/sparselu.
#pragma once

#include "matrix.hpp"

#include <quern/algorithms/parallel_for.hpp>
#include <quern/dependences/domain.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sparselu {

/// The loops of factorise(), with tasks. The next diagonal block, and what it waits for, come
/// first.
inline void factorise_by_tasks(matrix& a) {
    using quern::in;
    using quern::inout;
    quern::domain work;
    for (std::size_t k = 0; k < a.blocks(); ++k) {
        const block kk = a.at(k, k);
        work.spawn({.name = "lu0", .rank = 3}, inout(kk.numbers()), [kk] { lu0(kk); });
        for (std::size_t j = k + 1; j < a.blocks(); ++j) {
            if (a.has(k, j)) {
                const block kj = a.at(k, j);
                work.spawn({.name = "fwd", .rank = 2}, in(kk.numbers()), inout(kj.numbers()),
                           [kk, kj] { fwd(kk, kj); });
            }
        }
        for (std::size_t i = k + 1; i < a.blocks(); ++i) {
            if (!a.has(i, k)) {
                continue;
            }
            const block ik = a.at(i, k);
            work.spawn({.name = "bdiv", .rank = 2}, in(kk.numbers()), inout(ik.numbers()),
                       [kk, ik] { bdiv(kk, ik); });
            for (std::size_t j = k + 1; j < a.blocks(); ++j) {
                if (a.has(k, j)) {
                    const block kj = a.at(k, j);
                    const block ij = a.allocated(i, j);
                    const auto rank = static_cast<std::int16_t>(std::min(i, j) == k + 1 ? 1 : 0);
                    work.spawn({.name = "bmod", .rank = rank}, in(ik.numbers()), in(kj.numbers()),
                               inout(ij.numbers()), [ik, kj, ij] { bmod(ik, kj, ij); });
                }
            }
        }
    }
    work.taskwait();
}

/// The same with a loop for each phase, at whose end all wait: the fork-join form of BOTS.
inline void factorise_with_barriers(matrix& a) {
    const auto one = quern::grain::fixed(1);
    for (std::size_t k = 0; k < a.blocks(); ++k) {
        std::vector<std::size_t> right;
        std::vector<std::size_t> below;
        for (std::size_t i = k + 1; i < a.blocks(); ++i) {
            if (a.has(k, i)) {
                right.push_back(i);
            }
            if (a.has(i, k)) {
                below.push_back(i);
            }
        }
        const block kk = a.at(k, k);
        lu0(kk);
        quern::parallel_for(std::size_t{0}, right.size() + below.size(), one, [&](std::size_t x) {
            if (x < right.size()) {
                fwd(kk, a.at(k, right[x]));
            } else {
                bdiv(kk, a.at(below[x - right.size()], k));
            }
        });
        quern::parallel_for(std::size_t{0}, right.size() * below.size(), one, [&](std::size_t x) {
            const std::size_t i = below[x / right.size()];
            const std::size_t j = right[x % right.size()];
            bmod(a.at(i, k), a.at(k, j), a.allocated(i, j));
        });
    }
}

}  // namespace sparselu
