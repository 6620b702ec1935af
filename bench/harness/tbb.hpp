// SPDX-License-Identifier: BSL-1.0
// Repetitions that run in an arena of their own, with as many threads as requested. The main thread
// is one of them.
#pragma once

#include "harness.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <memory>
#include <utility>

namespace bench {

struct tbb_runtime {
    explicit tbb_runtime(int workers)
        : limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers)),
          arena(workers) {}

    tbb::global_control limit;
    tbb::task_arena arena;
};

/// An arena without the main thread, for calls from outside.
struct tbb_workers {
    explicit tbb_workers(int workers)
        : limit(tbb::global_control::max_allowed_parallelism,
                static_cast<std::size_t>(workers) + 1),
          arena(workers, 0) {}

    tbb::global_control limit;
    tbb::task_arena arena;
};

/// A job whose repetitions run f() in the arena.
template <class F>
job tbb_job(const arguments& a, F f) {
    return [rt = std::make_shared<tbb_runtime>(a.workers), f = std::move(f)] {
        return rt->arena.execute(f);
    };
}

}  // namespace bench
