// SPDX-License-Identifier: BSL-1.0
// Recursions on oneTBB.
#pragma once

#include "../harness/tbb.hpp"
#include "tasks.hpp"

#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_group.h>

namespace bench {

/// A task_group for a family; its last child is called.
struct tbb_group {
    template <class F>
    auto sum(long n, const F& f) const {
        partial_sums<sum_of<tbb_group, F>> sums(n);
        tbb::task_group group;
        for (long i = 0; i + 1 < n; ++i) {
            group.run([&f, &result = sums[i], i] { result = f(tbb_group{}, i); });
        }
        sums[n - 1] = f(tbb_group{}, n - 1);
        group.wait();
        return sums.total();
    }

    template <class F, class... Others>
    void all(const F& f, const Others&... others) const {
        tbb::task_group group;
        (group.run([&others] { others(tbb_group{}); }), ...);
        f(tbb_group{});
        group.wait();
    }
};

/// parallel_invoke for a family of known size.
struct tbb_invoke {
    template <class... F>
    void all(const F&... f) const {
        tbb::parallel_invoke([&f] { f(tbb_invoke{}); }...);
    }
};

template <class Problem, class Tasks>
job solved_by_tbb(const arguments& a) {
    return tbb_job(a, timed_problem<Problem>(a, [](Problem& p) { return p.solve(Tasks{}); }));
}

}  // namespace bench
