// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <memory>

namespace bench::sparselu {

namespace {

const contender serial{"sparselu", "serial", [](const arguments& a) -> job {
                           return [all = std::make_shared<answers>(a)] {
                               return all->measured([](matrix& m) { factorise(m); });
                           };
                       }};

}  // namespace

}  // namespace bench::sparselu
