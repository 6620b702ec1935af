// SPDX-License-Identifier: BSL-1.0
// Repetitions at several sizes of tasks. The best one counts, for each contender its own, so that
// none is compared at a size that suits another. Figures name the rate of each.
#pragma once

#include "harness.hpp"

#include <string>

namespace bench {

/// `rate(grain)` runs the problem in tasks of that size, checks the answer, and returns how much it
/// did in a second.
template <class Grains, class Rate>
measurement best_of(const Grains& grains, const Rate& rate) {
    measurement m;
    m.runs = 0;
    for (const auto& grain : grains) {
        const double found = rate(grain);
        m.more["at_" + std::to_string(grain)] = found;
        if (found > m.value) {
            m.value = found;
            m.more["best_grain"] = static_cast<double>(grain);
        }
        ++m.runs;
    }
    return m;
}

}  // namespace bench
