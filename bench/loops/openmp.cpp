// SPDX-License-Identifier: BSL-1.0
// OpenMP's own loops, so the time includes the parallel region: about a microsecond.
#include "problem.hpp"

#include "../harness/openmp.hpp"

namespace bench::loops {

namespace {

constexpr auto k_run = [](const arguments&, auto f) -> job { return f; };

constexpr auto k_static = [](const arguments& a, auto f) {
    const long n = a.size;
#pragma omp parallel for num_threads(a.workers) schedule(static)
    for (long i = 0; i < n; ++i) {
        f(i);
    }
};
constexpr auto k_dynamic = [](const arguments& a, auto f) {
    const long n = a.size;
#pragma omp parallel for num_threads(a.workers) schedule(dynamic, 1)
    for (long i = 0; i < n; ++i) {
        f(i);
    }
};
constexpr auto k_guided = [](const arguments& a, auto f) {
    const long n = a.size;
#pragma omp parallel for num_threads(a.workers) schedule(guided)
    for (long i = 0; i < n; ++i) {
        f(i);
    }
};
constexpr auto k_taskloop = [](const arguments& a, auto f) {
    const long n = a.size;
#pragma omp parallel master taskloop num_threads(a.workers)
    for (long i = 0; i < n; ++i) {
        f(i);
    }
};

const on_all_shapes by_default("static", k_static, k_run);
const on_all_shapes dynamic("dynamic", k_dynamic, k_run);
const on_all_shapes guided("guided", k_guided, k_run);
const on_all_shapes taskloop("taskloop", k_taskloop, k_run);

}  // namespace

}  // namespace bench::loops
