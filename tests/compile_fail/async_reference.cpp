// SPDX-License-Identifier: BSL-1.0
// A function that takes a reference gets a copy of the argument, as with std::async, unless it is
// passed by std::ref.
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
    quern::async(inc, given(x)).get();
}
