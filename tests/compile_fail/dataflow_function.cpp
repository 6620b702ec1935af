// SPDX-License-Identifier: BSL-1.0
// Without unwrapping, the function of a dataflow takes futures.
#include <quern/task/async.hpp>
#include <quern/task/dataflow.hpp>

#ifdef QUERN_MUST_COMPILE
using argument = quern::future<int>;
#else
using argument = int;
#endif

int main() {
    auto sum = quern::dataflow([](argument, argument) { return 2; }, quern::async([] { return 1; }),
                               quern::async([] { return 1; }));
    sum.wait();
}
