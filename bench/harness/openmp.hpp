// SPDX-License-Identifier: BSL-1.0
// Repetitions that run in one thread of a parallel region, whose other threads wait for tasks. The
// sources are compiled twice: by gcc for its libgomp, and by clang for LLVM's libomp.
#pragma once

#include "harness.hpp"

#include <exception>
#include <utility>

#include <omp.h>

namespace bench {

/// A job whose repetitions are f(), run by the one thread of a team that makes tasks.
template <class F>
job openmp_job(const arguments& a, F f) {
    return [workers = a.workers, f = std::move(f)] {
        measurement m;
        std::exception_ptr error;  // exceptions may not leave a parallel region
#pragma omp parallel num_threads(workers)
#pragma omp single
        try {
            m = f();
        } catch (...) {
            error = std::current_exception();
        }
        if (error) {
            std::rethrow_exception(error);
        }
        return m;
    };
}

}  // namespace bench
