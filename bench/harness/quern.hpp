// SPDX-License-Identifier: BSL-1.0
// Repetitions that run as a task of their own runtime. The environment gives the policy and all
// other settings: QUERN_POLICY=sherwood bench-quern …
#pragma once

#include "harness.hpp"

#include <quern/quern.hpp>

#include <memory>
#include <utility>

namespace bench {

inline std::shared_ptr<quern::runtime> quern_runtime(const arguments& a) {
    return std::make_shared<quern::runtime>(
        quern::runtime_options::with_workers(static_cast<unsigned>(a.workers)));
}

/// A job whose repetitions run f() as a task.
template <class F>
job quern_job(const arguments& a, F f) {
    return [rt = quern_runtime(a), f = std::move(f)] { return quern::async(*rt, f).get(); };
}

}  // namespace bench
