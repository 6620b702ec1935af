// SPDX-License-Identifier: BSL-1.0
// Recursions on OpenMP.
#pragma once

#include "../harness/openmp.hpp"
#include "tasks.hpp"

namespace bench {

/// A task for each child but the last, and taskwait.
struct openmp_tasks {
    template <class F>
    auto sum(long n, const F& f) const {
        partial_sums<sum_of<openmp_tasks, F>> sums(n);
        for (long i = 0; i + 1 < n; ++i) {
            auto* result = &sums[i];
            const F* child = &f;
#pragma omp task firstprivate(result, child, i)
            *result = (*child)(openmp_tasks{}, i);
        }
        sums[n - 1] = f(openmp_tasks{}, n - 1);
#pragma omp taskwait
        return sums.total();
    }

    template <class... F>
    void all(const F&... f) const {
        spawn_all(f...);
#pragma omp taskwait
    }

private:
    template <class F, class... Others>
    static void spawn_all(const F& f, const Others&... others) {
        if constexpr (sizeof...(others) == 0) {
            f(openmp_tasks{});
        } else {
            const F* child = &f;  // by value: the task may run when this call has returned
#pragma omp task firstprivate(child)
            (*child)(openmp_tasks{});
            spawn_all(others...);
        }
    }
};

template <class Problem>
job solved_by_openmp(const arguments& a) {
    return openmp_job(
        a, timed_problem<Problem>(a, [](Problem& p) { return p.solve(openmp_tasks{}); }));
}

}  // namespace bench
