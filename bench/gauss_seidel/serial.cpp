// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <memory>

namespace bench::gauss_seidel {

namespace {

const contender serial{"gauss_seidel", "serial", [](const arguments& a) -> job {
                           return [all = std::make_shared<answer>(a)] {
                               return all->measured(::gauss_seidel::sweep_serially);
                           };
                       }};

}  // namespace

}  // namespace bench::gauss_seidel
