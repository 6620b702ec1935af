// SPDX-License-Identifier: BSL-1.0
// The mistake of everybody who comes from a library whose continuations take the value.
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
