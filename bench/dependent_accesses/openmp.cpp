// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

#include <cstddef>

namespace bench::dependent_accesses {

namespace {

template <std::size_t Accesses>
void run(table& t) {
    for (long i = 0; i < k_tasks; ++i) {
        value* const first = t.data() + first_of(i, Accesses);
// clang-format off
#pragma omp task firstprivate(first) depend(iterator(std::size_t k = 0 : Accesses), inout : first[k])
        // clang-format on
        for (std::size_t k = 0; k < Accesses; ++k) {
            change(first[k]);
        }
    }
#pragma omp taskwait
}

const contender depend{
    "dependent_accesses", "depend", [](const arguments& a) {
        return openmp_job(a, [n = a.size] {
            return measured(n, [](table& t, auto accesses) { run<decltype(accesses)::value>(t); });
        });
    }};

}  // namespace

}  // namespace bench::dependent_accesses
