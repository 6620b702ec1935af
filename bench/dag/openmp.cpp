// SPDX-License-Identifier: BSL-1.0
#include "counted.hpp"

#include "../harness/openmp.hpp"

#include <memory>

namespace bench::dag {

namespace {

std::vector<value> with_depend(const graph& g) {
    std::vector<value> table(g.size());
    for (task_id t = 0; t < g.size(); ++t) {
        const task_id* const in = g.inputs(t).data();
        const auto count = static_cast<int>(g.inputs(t).size());
        value* const all = table.data();
// clang-format off
#pragma omp task firstprivate(t, all) shared(g) depend(out : all[t]) depend(iterator(int i = 0 : count), in : all[in[i]])
        // clang-format on
        g.execute_in(all, t);
    }
#pragma omp taskwait
    return table;
}

struct starter {
    counted_run& run;
    void operator()(task_id t) const {
        counted_run* const here = &run;
#pragma omp task firstprivate(here, t)
        here->run(t, starter{*here});
    }
};

std::vector<value> with_counters(const graph& g) {
    counted_run run(g);
#pragma omp taskgroup
    run.start_first(starter{run});
    return run.take_table();
}

template <class F>
job checked(const arguments& a, F f) {
    return openmp_job(a, [g = std::make_shared<const graph>(a.size), f] {
        return timed([&] { return f(*g); }, [&](const auto& table) { g->check_table(table); });
    });
}

const contender depend{"dag", "depend", [](const arguments& a) { return checked(a, with_depend); }};
const contender counted{"dag", "counted",
                        [](const arguments& a) { return checked(a, with_counters); }};

}  // namespace

}  // namespace bench::dag
