// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

#include <array>

namespace bench::metg {

namespace {

/// Outputs are in a table; a task depends on the elements that it reads.
void with_depend(graph& g) {
    std::vector<output> outputs(static_cast<std::size_t>(g.tasks()));
    for (int step = 0; step < g.steps(); ++step) {
        output* const out = outputs.data() + step * g.width();
        const output* const before = out - (step > 0 ? g.width() : 0);
        for (int point = 0; point < g.width(); ++point) {
            const inputs* const in = &g.inputs_for(step, point);
// clang-format off
#pragma omp task firstprivate(out, before, in, step, point) shared(g) depend(out : out[point]) depend(iterator(int i = 0 : in->count), in : before[in->points[i]])
            // clang-format on
            {
                std::array<const output*, inputs::k_most> all{};
                for (int i = 0; i < in->count; ++i) {
                    all[static_cast<std::size_t>(i)] = &before[in->points[i]];
                }
                out[point] =
                    g.execute(step, point, {all.data(), static_cast<std::size_t>(in->count)});
            }
        }
    }
#pragma omp taskwait
}

const auto depend = contenders(
    "depend", [](const arguments& a, auto f) { return openmp_job(a, f); },
    [](graph& g) { return [&g] { with_depend(g); }; });

}  // namespace

}  // namespace bench::metg
