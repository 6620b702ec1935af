// SPDX-License-Identifier: BSL-1.0
// Shared by the applications of the layer localities.
#pragma once

#include "../mpi/common/ranks.hpp"

#include <quern/localities/session.hpp>

namespace apps::localities {

/// f(runtime) as a task at each rank, while these are the localities of a session.
template <class F>
auto in_session(int argc, char** argv, const F& f) {
    return apps::mpi::with_runtime([&](const quern::runtime& rt) {
        const quern::localities::session job(argc, argv);
        return quern::async(rt, [&] { return f(rt); }).get();
    });
}

}  // namespace apps::localities
