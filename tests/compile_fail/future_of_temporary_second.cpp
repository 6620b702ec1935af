// SPDX-License-Identifier: BSL-1.0
// The second range of an algorithm, too, must live until its task has run.
#include <quern/algorithms/merge.hpp>

#include <span>
#include <utility>
#include <vector>

int main() {
    const std::vector<int> x(10), y(10);
    std::vector<int> out(20);
    const auto later = quern::par(quern::as_future);
#ifdef QUERN_MUST_COMPILE
    quern::merge(later, std::span(x), std::as_const(y), out.begin()).get();
#else
    quern::merge(later, std::span(x), std::vector<int>(10), out.begin()).get();
#endif
}
