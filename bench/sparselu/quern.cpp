// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../../apps/sparselu/tasks.hpp"
#include "../harness/quern.hpp"

#include <memory>

namespace bench::sparselu {

namespace {

contender registered(const char* variant, void (*how)(matrix&)) {
    return {"sparselu", variant, [how](const arguments& a) {
                return quern_job(
                    a, [all = std::make_shared<answers>(a), how] { return all->measured(how); });
            }};
}

const auto domain = registered("domain", ::sparselu::factorise_by_tasks);
const auto barriers = registered("barriers", ::sparselu::factorise_with_barriers);

}  // namespace

}  // namespace bench::sparselu
