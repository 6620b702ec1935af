// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../../apps/gauss_seidel/tasks.hpp"
#include "../harness/quern.hpp"

#include <memory>

namespace bench::gauss_seidel {

namespace {

contender registered(const char* variant, void (*how)(grid&, int)) {
    return {"gauss_seidel", variant, [how](const arguments& a) {
                return quern_job(
                    a, [all = std::make_shared<answer>(a), how] { return all->measured(how); });
            }};
}

const auto domain = registered("domain", ::gauss_seidel::sweep_by_tasks);
const auto barriers = registered("barriers", ::gauss_seidel::sweep_with_barriers);

}  // namespace

}  // namespace bench::gauss_seidel
