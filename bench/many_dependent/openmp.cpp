// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

namespace bench::many_dependent {

namespace {

value many(long tasks) {
    table t{};
    value* const all = t.data();
    for (long i = 0; i < tasks; ++i) {
        const std::size_t from = read_by(i);
        const std::size_t to = changed_by(i);
// clang-format off
#pragma omp task firstprivate(all, from, to) depend(in : all[from]) depend(inout : all[to])
        // clang-format on
        step(all[from], all[to]);
    }
#pragma omp taskwait
    return sum_of(t);
}

value chain(long tasks) {
    value v = 0;
    value* const it = &v;
    for (long i = 0; i < tasks; ++i) {
#pragma omp task firstprivate(it) depend(inout : *it)
        link(*it);
    }
#pragma omp taskwait
    return v;
}

const contender depend{"many_dependent", "depend", [](const arguments& a) {
                           return openmp_job(a, [n = a.size, answer = serial_sum(a.size)] {
                               return compared([n] { return many(n); }, answer);
                           });
                       }};
const contender depend_chain{"dependent_chain", "depend", [](const arguments& a) {
                                 return openmp_job(a, [n = a.size, answer = serial_chain(a.size)] {
                                     return compared([n] { return chain(n); }, answer);
                                 });
                             }};

}  // namespace

}  // namespace bench::many_dependent
