// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

namespace bench::mutex_contention {

namespace {

void with_lock(account& shared) {
    omp_lock_t lock;
    omp_init_lock(&lock);
    for (long i = 0; i < k_tasks; ++i) {
#pragma omp task shared(shared, lock)
        shared.use([&lock](auto f) {
            omp_set_lock(&lock);
            f();
            omp_unset_lock(&lock);
        });
    }
#pragma omp taskwait
    omp_destroy_lock(&lock);
}

const contender lock{"mutex_contention", "lock", [](const arguments& a) {
                         return openmp_job(
                             a, [locks = a.size] { return of_account(locks, with_lock); });
                     }};

}  // namespace

}  // namespace bench::mutex_contention
