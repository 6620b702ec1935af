// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <memory>

namespace bench::gauss_seidel {

namespace {

/// The whole grid is one block.
const contender serial{
    "gauss_seidel", "serial", [](const arguments& a) -> job {
        return [whole = std::make_shared<answer>(a)]() -> measurement {
            return {.value = whole->rate(whole->points(), ::gauss_seidel::sweep_serially),
                    .more = {}};
        };
    }};

}  // namespace

}  // namespace bench::gauss_seidel
