// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../../apps/stream/tasks.hpp"
#include "../harness/quern.hpp"

#include <cstddef>
#include <memory>

namespace bench::stream {

namespace {

contender registered(const char* variant, void (*how)(arrays&, std::size_t, int)) {
    return {"stream", variant, [how](const arguments& a) {
                return quern_job(a,
                                 [x = std::make_shared<data>(a), how] { return x->measured(how); });
            }};
}

const auto domain = registered("domain", ::stream::run_by_tasks);
const auto barriers = registered("barriers", ::stream::run_with_barriers);

}  // namespace

}  // namespace bench::stream
