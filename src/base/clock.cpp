// SPDX-License-Identifier: BSL-1.0
// Measures the rate of the time-stamp counter against the monotonic clock, once per process.
#include <quern/base/clock.hpp>

namespace quern::detail {

namespace {

using clock = std::chrono::steady_clock;

struct moment {
    clock::time_point time = clock::now();
    tick_count count = ticks();
};

const moment& loaded() {
    static const moment first;
    return first;
}

/// Taken when the library is loaded, so that a program that asks later need not wait.
[[maybe_unused]] const moment& k_loaded = loaded();

double measure_ns_per_tick() {
    constexpr auto k_interval = std::chrono::microseconds(2000);  // error below 0.01 %
    moment now;
    while (now.time - loaded().time < k_interval) {
        now = moment();
    }
    const double ns = std::chrono::duration<double, std::nano>(now.time - loaded().time).count();
    return ns / static_cast<double>(now.count - loaded().count);
}

}  // namespace

double ns_per_tick() {
    static const double rate = measure_ns_per_tick();
    return rate;
}

}  // namespace quern::detail
