// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

namespace bench::many_dependent {

namespace {

const contender serial{"many_dependent", "serial", [](const arguments& a) -> job {
                           return [n = a.size] {
                               return compared([n] { return serial_sum(n); }, serial_sum(n));
                           };
                       }};
const contender serial_one{
    "dependent_chain", "serial", [](const arguments& a) -> job {
        return [n = a.size] { return compared([n] { return serial_chain(n); }, serial_chain(n)); };
    }};

}  // namespace

}  // namespace bench::many_dependent
