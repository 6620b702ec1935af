// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <memory>

namespace bench::stream {

namespace {

/// Each kernel over the whole arrays.
const contender serial{"stream", "serial", [](const arguments& a) -> job {
                           return [x = std::make_shared<data>(a)]() -> measurement {
                               const auto whole = [](arrays& all, std::size_t, int iterations) {
                                   run_serially(all, iterations);
                               };
                               return {.value = x->rate(0, whole), .more = {}};
                           };
                       }};

}  // namespace

}  // namespace bench::stream
