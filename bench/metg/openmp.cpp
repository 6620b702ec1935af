// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

#include <array>

namespace bench::metg {

namespace {

/// Outputs are in a table of `rows` rows, which the steps use in turn; a task depends on the
/// elements that it reads and on the one that it writes.
void with_depend(graph& g, int rows) {
    std::vector<output> outputs(static_cast<std::size_t>(rows) *
                                static_cast<std::size_t>(g.width()));
    for (int step = 0; step < g.steps(); ++step) {
        output* const out = outputs.data() + step % rows * g.width();
        const output* const before = outputs.data() + (step + rows - 1) % rows * g.width();
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

template <class Rows>
std::vector<contender> depends(const char* variant, Rows rows) {
    return contenders(
        variant, [](const arguments& a, auto f) { return openmp_job(a, f); },
        [rows](graph& g) { return [&g, rows] { with_depend(g, rows(g)); }; });
}

const auto depend = depends("depend", [](const graph& g) { return g.steps(); });
/// Two rows: a task also waits for the readers of what it overwrites.
const auto depend_two_rows = depends("depend_two_rows", [](const graph&) { return 2; });

}  // namespace

}  // namespace bench::metg
