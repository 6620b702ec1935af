// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include <memory>

namespace bench::dag {

namespace {

std::vector<value> serial(const graph& g) {
    std::vector<value> table(g.size());
    for (task_id t = 0; t < g.size(); ++t) {
        g.execute_in(table.data(), t);
    }
    return table;
}

const contender here{"dag", "serial", [](const arguments& a) -> job {
                         return [g = std::make_shared<const graph>(a.size)] {
                             return timed([&] { return serial(*g); },
                                          [&](const auto& table) { g->check_table(table); });
                         };
                     }};

}  // namespace

}  // namespace bench::dag
