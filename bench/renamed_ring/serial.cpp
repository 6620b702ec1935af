// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

namespace bench::renamed_ring {

namespace {

const contender serial{"renamed_ring", "serial", [](const arguments& a) -> job {
                           return [n = a.size, answer = serial_ring(a.size)] {
                               return compared([n] { return serial_ring(n); }, answer);
                           };
                       }};

}  // namespace

}  // namespace bench::renamed_ring
