// SPDX-License-Identifier: BSL-1.0
// A child whose result is wanted returns one.
#include <quern/task/scope.hpp>

#include <string>

int main() {
    int result = 0;
    quern::scope([&](quern::fork_scope& s) {
#ifdef QUERN_MUST_COMPILE
        s.spawn_into(result, [] { return 1; });
#else
        s.spawn_into(result, [] { return std::string("one"); });
#endif
    });
}
