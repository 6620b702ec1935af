// SPDX-License-Identifier: BSL-1.0
// Fibonacci numbers by plain actions: both halves of a number are computed at localities in turn.
#include "checks.hpp"

#include <hpx/hpx.hpp>
#include <hpx/modules/testing.hpp>

#include <cstdint>
#include <vector>

std::uint64_t fibonacci(std::uint64_t n);
HPX_PLAIN_ACTION(fibonacci, fibonacci_action)

std::uint64_t fibonacci(std::uint64_t n) {
    if (n < 2) {
        return n;
    }
    std::vector<hpx::id_type> const all = hpx::find_all_localities();
    hpx::id_type const next = all[(hpx::get_locality_id() + n) % all.size()];
    fibonacci_action fib;
    hpx::future<std::uint64_t> first = hpx::async(fib, next, n - 1);
    hpx::future<std::uint64_t> second =
        hpx::async(hpx::launch::async, fib, hpx::find_here(), n - 2);
    return first.get() + second.get();
}

HPX_DECLARE_PLAIN_ACTION(twice, twice_action)
int twice(int n) { return 2 * n; }
HPX_PLAIN_DIRECT_ACTION(twice, twice_action)

hpx::future<int> later(int n) {
    return hpx::async([n] { return n + 1; });
}
HPX_PLAIN_ACTION(later, later_action)

void check_fibonacci() {
    HPX_TEST_EQ(fibonacci(12), std::uint64_t(144));
    for (hpx::id_type const& each : hpx::find_all_localities()) {
        HPX_TEST_EQ(twice_action()(each, 21), 42);
        HPX_TEST_EQ(hpx::sync<twice_action>(each, 4), 8);
        HPX_TEST_EQ(hpx::async<twice_action>(hpx::launch::sync, each, 5).get(), 10);
        HPX_TEST_EQ(hpx::async<twice_action>(hpx::launch::deferred, each, 6).get(), 12);
        HPX_TEST_EQ(hpx::async<later_action>(each, 1).get(), 2);
        hpx::future<int> sum =
            hpx::dataflow(hpx::unwrapping([](int a, int b) { return a + b; }),
                          hpx::async<twice_action>(each, 1), hpx::async(twice_action(), each, 2));
        HPX_TEST_EQ(sum.get(), 6);
        auto const bound = hpx::bind(twice_action(), each, hpx::placeholders::_1);
        HPX_TEST_EQ(bound(8), 16);
    }
}
