// SPDX-License-Identifier: BSL-1.0
// A thief steals from a worker's deque; only the owner pops.
#include <quern/scheduler/detail/pool.hpp>

quern::detail::runnable* take(quern::detail::pool& where) {
#ifdef QUERN_MUST_COMPILE
    quern::detail::runnable* const own = quern::detail::this_worker().deque().pop();
    return own != nullptr ? own : where.at(0).deque().steal();
#else
    return where.at(0).deque().pop();
#endif
}

int main() {}
