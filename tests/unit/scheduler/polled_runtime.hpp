// SPDX-License-Identifier: BSL-1.0
// What the tests of pollers share.
#pragma once

#include "on_runtime.hpp"

namespace quern_test {

class on_polled_runtime : public on_runtime {
protected:
    quern::pool_ref pool() { return rt.default_pool(); }

    void wait_until_all_sleep() {
        // A worker counts as asleep a little before it has counted that it parks.
        const auto is_at_rest = [&](unsigned rank) {
            const auto& parker = pool().get().at(rank).parker();
            return parker.word.load() == std::decay_t<decltype(parker)>::k_at_rest;
        };
        for (unsigned rank = 0; rank < workers(); ++rank) {
            ASSERT_TRUE(eventually([&] { return is_at_rest(rank); }));
        }
    }
};

}  // namespace quern_test
