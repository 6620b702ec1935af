// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../../apps/nbody/tasks.hpp"
#include "../harness/quern.hpp"

#include <memory>

namespace bench::nbody {

namespace {

contender registered(const char* variant, void (*how)(bodies&, int)) {
    return {"nbody", variant, [how](const arguments& a) {
                return quern_job(
                    a, [all = std::make_shared<answer>(a), how] { return all->measured(how); });
            }};
}

const auto domain = registered("domain", ::nbody::advance_by_tasks);
const auto barriers = registered("barriers", ::nbody::advance_with_barriers);

}  // namespace

}  // namespace bench::nbody
