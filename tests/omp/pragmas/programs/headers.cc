// SPDX-License-Identifier: BSL-1.0
// Headers of the standard library beside task functions.
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdarg>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>
#pragma omp task inout([n] v)
void scale(double* v, int n) {
    for (int i = 0; i < n; ++i)
        v[i] *= 2;
}
int main() {
    std::vector<double> v(100, 1.5);
    scale(v.data(), 100);
    assert(v.size() == 100);
    auto t = std::make_tuple(1, 2.0, std::string("x"));
    std::apply(
        [&](auto... a) {
            (void)sizeof...(a);
            scale(v.data(), 50);
        },
        t);
    std::function<void()> f = [&] { scale(&v[50], 50); };
    f();
#pragma omp taskwait
    std::cout << std::accumulate(v.begin(), v.end(), 0.0) << std::isnan(v[0]) << '\n';
}
