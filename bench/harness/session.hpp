// SPDX-License-Identifier: BSL-1.0
// Repetitions in a session of localities.
#pragma once

#include "quern.hpp"

#include <quern/localities/session.hpp>

#include <utility>

namespace bench::ranks {

/// A job whose repetitions run f() as a task, each in a session of its own, which is not a part of
/// what f() measures.
template <class F>
job in_session(const arguments& a, F f) {
    return [rt = quern_runtime(a), f = std::move(f)] {
        int no_arguments = 0;
        char** none = nullptr;
        const quern::localities::session here(no_arguments, none);
        return quern::async(*rt, f).get();
    };
}

}  // namespace bench::ranks
