// SPDX-License-Identifier: BSL-1.0
// As async_reference: of post, which has no future.
#include <quern/task/async.hpp>

#include <functional>

#ifdef QUERN_MUST_COMPILE
auto given(int& x) { return std::ref(x); }
#else
int& given(int& x) { return x; }
#endif

void inc(int& x) { ++x; }

int main() {
    int x = 0;
    quern::post(inc, given(x));
}
