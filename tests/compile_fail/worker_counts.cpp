// SPDX-License-Identifier: BSL-1.0
// Only its own thread counts for a worker; other threads read.
#include <quern/scheduler/detail/pool.hpp>

void count(quern::detail::pool& where) {
#ifdef QUERN_MUST_COMPILE
    if (where.at(0).stats().stolen.value() == 0) {
        quern::detail::this_worker().stats().stolen.add();
    }
#else
    where.at(0).stats().stolen.add();
#endif
}

int main() {}
