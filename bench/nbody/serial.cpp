// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <memory>

namespace bench::nbody {

namespace {

const contender serial{"nbody", "serial", [](const arguments& a) -> job {
                           return [all = std::make_shared<answer>(a)] {
                               return all->measured(::nbody::advance_serially);
                           };
                       }};

}  // namespace

}  // namespace bench::nbody
