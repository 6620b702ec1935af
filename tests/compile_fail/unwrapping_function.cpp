// SPDX-License-Identifier: BSL-1.0
// With unwrapping, the function takes as many values as there are futures.
#include <quern/task/async.hpp>
#include <quern/task/dataflow.hpp>

#ifdef QUERN_MUST_COMPILE
constexpr auto add = [](int a, int b) { return a + b; };
#else
constexpr auto add = [](int a) { return a; };
#endif

int main() {
    auto sum = quern::dataflow(quern::unwrapping(add), quern::async([] { return 1; }),
                               quern::async([] { return 1; }));
    sum.wait();
}
