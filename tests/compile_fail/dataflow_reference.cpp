// SPDX-License-Identifier: BSL-1.0
// As async_reference: of dataflow, whose arguments are futures or values.
#include <quern/task/dataflow.hpp>

#include <functional>

#ifdef QUERN_MUST_COMPILE
auto given(int& x) { return std::ref(x); }
#else
int& given(int& x) { return x; }
#endif

void inc(int& x) { ++x; }

int main() {
    int x = 0;
    quern::dataflow(inc, given(x)).wait();
}
