// SPDX-License-Identifier: BSL-1.0
// The usual mistake of users of libraries whose continuations take the value.
#include <quern/task/async.hpp>

#ifdef QUERN_MUST_COMPILE
using argument = quern::future<int>;
#else
using argument = int;
#endif

int main() {
    auto made = quern::async([] { return 1; });
    auto next = made.then([](argument) { return 2; });
    next.wait();
}
