// SPDX-License-Identifier: BSL-1.0
// The grain behind the initial value.
#include <quern/algorithms/parallel_for.hpp>

#include <functional>

int main() {
    const auto map = [](int i) { return i; };
#ifdef QUERN_MUST_COMPILE
    return quern::parallel_reduce(0, 10, quern::grain::fixed(4), 0, map, std::plus<>());
#else
    return quern::parallel_reduce(0, 10, 0, quern::grain::fixed(4), map, std::plus<>());
#endif
}
