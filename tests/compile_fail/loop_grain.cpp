// SPDX-License-Identifier: BSL-1.0
// The grain behind the body.
#include <quern/algorithms/parallel_for.hpp>

int main() {
    const auto body = [](int) {};
#ifdef QUERN_MUST_COMPILE
    quern::parallel_for(0, 10, quern::grain::fixed(1), body);
#else
    quern::parallel_for(0, 10, body, quern::grain::fixed(1));
#endif
}
