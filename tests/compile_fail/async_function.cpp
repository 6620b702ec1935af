// SPDX-License-Identifier: BSL-1.0
// The arguments must fit the function.
#include <quern/task/async.hpp>

#ifdef QUERN_MUST_COMPILE
constexpr int k_number = 1;
#else
constexpr const char* k_number = "1";
#endif

int main() {
    auto made = quern::async(
        {.name = "one"}, [](int n) { return n; }, k_number);
    made.wait();
}
