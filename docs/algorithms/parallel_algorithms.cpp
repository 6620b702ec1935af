// SPDX-License-Identifier: BSL-1.0
// The example of docs/algorithms.md.
#include <quern/algorithms/all.hpp>
#include <quern/quern.hpp>

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <vector>

int main() {
    std::vector<double> x(1'000'000, 0.5);
    std::vector<double> sums(x.size());

    quern::for_each(quern::par, x, [](double& e) { e *= 2; });
    quern::inclusive_scan(quern::par, x.begin(), x.end(), sums.begin());
    std::printf("the last sum: %.0f\n", sums.back());

    // In the background, and in chunks of 10000 elements.
    auto norm2 =
        quern::transform_reduce(quern::par.with(quern::static_chunk_size(10'000))(quern::as_future),
                                x, 0.0, std::plus<>{}, [](double e) { return e * e; });
    auto place = quern::find_if(quern::par, sums, [](double s) { return s > 1000.5; });
    std::printf("place %td, norm %.0f\n", place - sums.begin(), norm2.get());

    try {
        quern::for_each(quern::par, x, [](double e) {
            if (e == 1.0) {
                throw std::runtime_error("a one");
            }
        });
    } catch (const std::runtime_error& error) {
        std::printf("%s\n", error.what());
    }
}
