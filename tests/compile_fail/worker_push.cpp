// SPDX-License-Identifier: BSL-1.0
// Only its own thread pushes to a worker's deque: what a pool gives has no push.
#include <quern/scheduler/detail/pool.hpp>

void give(quern::detail::pool& where, quern::detail::runnable& item) {
#ifdef QUERN_MUST_COMPILE
    where.at(0).mailbox().push(item);
    quern::detail::this_worker().push(item);
#else
    where.at(0).push(item);
#endif
}

int main() {}
