// SPDX-License-Identifier: BSL-1.0
// Measures the rate of the time-stamp counter against the monotonic clock, once per process.
#include <quern/base/clock.hpp>

namespace quern::detail {

namespace {

double measure_ns_per_tick() {
    using clock = std::chrono::steady_clock;
    constexpr auto k_interval = std::chrono::microseconds(2000);  // error below 0.01 %
    const auto start = clock::now();
    const tick_count first = ticks();
    auto now = start;
    while (now - start < k_interval) {
        now = clock::now();
    }
    const tick_count last = ticks();
    const double ns = std::chrono::duration<double, std::nano>(now - start).count();
    return ns / static_cast<double>(last - first);
}

}  // namespace

double ns_per_tick() {
    static const double rate = measure_ns_per_tick();
    return rate;
}

}  // namespace quern::detail
