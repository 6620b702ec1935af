// SPDX-License-Identifier: BSL-1.0
// An inclusive scan writes each sum and uses it for the next one.
#include <quern/algorithms/scan.hpp>

#include <vector>

struct number {
    number() = default;
    number(number&&) = default;
    number& operator=(number&&) = default;
#ifdef QUERN_MUST_COMPILE
    number(const number&) = default;
    number& operator=(const number&) = default;
#endif
    int value = 0;
};
number operator+(const number&, const number&);

int main() {
    std::vector<number> x(10);
    quern::inclusive_scan(quern::seq, x.begin(), x.end(), x.begin());
}
