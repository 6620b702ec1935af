// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

namespace bench::stream {

namespace {

/// The first number of a block stands for it.
void run_by_tasks(arrays& x, std::size_t side, int iterations) {
    const std::size_t n = x.size();
    double* const a = x.a(0, n).data();
    double* const b = x.b(0, n).data();
    double* const c = x.c(0, n).data();
    for (int i = 0; i < iterations; ++i) {
        for (std::size_t at = 0; at < n; at += side) {
            const std::size_t count = std::min(side, n - at);
#pragma omp task firstprivate(a, c, at, count) depend(in : a[at]) depend(out : c[at])
            ::stream::copy({a + at, count}, {c + at, count});
        }
        for (std::size_t at = 0; at < n; at += side) {
            const std::size_t count = std::min(side, n - at);
#pragma omp task firstprivate(b, c, at, count) depend(in : c[at]) depend(out : b[at])
            ::stream::scale({c + at, count}, {b + at, count});
        }
        for (std::size_t at = 0; at < n; at += side) {
            const std::size_t count = std::min(side, n - at);
#pragma omp task firstprivate(a, b, c, at, count) depend(in : a[at], b[at]) depend(out : c[at])
            ::stream::add({a + at, count}, {b + at, count}, {c + at, count});
        }
        for (std::size_t at = 0; at < n; at += side) {
            const std::size_t count = std::min(side, n - at);
#pragma omp task firstprivate(a, b, c, at, count) depend(in : b[at], c[at]) depend(out : a[at])
            ::stream::triad({b + at, count}, {c + at, count}, {a + at, count});
        }
    }
#pragma omp taskwait
}

const contender depend{
    "stream", "depend", [](const arguments& a) {
        return openmp_job(a, [x = std::make_shared<data>(a)] { return x->measured(run_by_tasks); });
    }};

}  // namespace

}  // namespace bench::stream
