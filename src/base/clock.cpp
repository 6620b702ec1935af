// SPDX-License-Identifier: BSL-1.0
// Measures the rate of the time-stamp counter against the monotonic clock, once per process.
#include <quern/base/detail/clock.hpp>

#include <atomic>

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

/// Taken when the library is loaded, so that a later caller need not wait.
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

/// No function-local static with a lock: see process.hpp. Concurrent first callers measure in
/// parallel.
double ns_per_tick() {
    static constinit std::atomic<double> known{0};
    double rate = known.load(std::memory_order_relaxed);
    if (rate == 0) {
        const double measured = measure_ns_per_tick();
        const bool is_first =
            known.compare_exchange_strong(rate, measured, std::memory_order_relaxed);
        rate = is_first ? measured : rate;
    }
    return rate;
}

}  // namespace quern::detail
