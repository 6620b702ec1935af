// SPDX-License-Identifier: BSL-1.0
// Parallel algorithms against those of the standard, under every policy.
#include <hpx/algorithm.hpp>
#include <hpx/execution.hpp>
#include <hpx/hpx_main.hpp>
#include <hpx/modules/testing.hpp>
#include <hpx/numeric.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <numeric>
#include <stdexcept>
#include <vector>

std::vector<int> numbers(std::size_t n) {
    std::vector<int> v(n);
    std::uint32_t state = 12345;
    for (int& each : v) {
        state = state * 1664525u + 1013904223u;
        each = int(state >> 12) % 1000;
    }
    return v;
}

template <class Policy>
void elements(Policy const& policy) {
    std::vector<int> const v = numbers(20000);
    std::vector<int> a = v, b(v.size());

    hpx::for_each(policy, a.begin(), a.end(), [](int& i) { i *= 2; });
    hpx::transform(policy, v.begin(), v.end(), b.begin(), [](int i) { return 2 * i; });
    HPX_TEST(a == b);
    HPX_TEST(hpx::equal(policy, a.begin(), a.end(), b.begin()));
    hpx::transform(policy, a.begin(), a.end(), v.begin(), b.begin(), std::minus<>());
    HPX_TEST(b == v);

    hpx::copy(policy, a.begin(), a.end(), b.begin());
    HPX_TEST(a == b);
    hpx::fill(policy, b.begin(), b.end(), 7);
    HPX_TEST_EQ(hpx::count(policy, b.begin(), b.end(), 7), std::ptrdiff_t(b.size()));
    hpx::generate(policy, b.begin(), b.end(), [] { return 8; });
    HPX_TEST(hpx::all_of(policy, b.begin(), b.end(), [](int i) { return i == 8; }));
    HPX_TEST(hpx::none_of(policy, b.begin(), b.end(), [](int i) { return i == 7; }));
    auto odd = [](int i) { return i % 2 != 0; };
    HPX_TEST_EQ(hpx::count_if(policy, v.begin(), v.end(), odd),
                std::count_if(v.begin(), v.end(), odd));
    HPX_TEST(hpx::find_if(policy, v.begin(), v.end(), odd) ==
             std::find_if(v.begin(), v.end(), odd));
    HPX_TEST(hpx::min_element(policy, v.begin(), v.end()) == std::min_element(v.begin(), v.end()));
    HPX_TEST(hpx::max_element(policy, v.begin(), v.end()) == std::max_element(v.begin(), v.end()));
}

template <class Policy>
void sums(Policy const& policy) {
    std::vector<int> const v = numbers(20000);
    long const total = std::accumulate(v.begin(), v.end(), 0L);
    HPX_TEST_EQ(hpx::reduce(policy, v.begin(), v.end(), 0L), total);
    HPX_TEST_EQ(hpx::transform_reduce(policy, v.begin(), v.end(), 0L, std::plus<>(),
                                      [](int i) { return 3L * i; }),
                3 * total);
    HPX_TEST_EQ(hpx::transform_reduce(policy, v.begin(), v.end(), v.begin(), 0L),
                std::inner_product(v.begin(), v.end(), v.begin(), 0L));

    std::vector<int> a(v.size()), b(v.size());
    hpx::inclusive_scan(policy, v.begin(), v.end(), a.begin());
    std::inclusive_scan(v.begin(), v.end(), b.begin());
    HPX_TEST(a == b);
    hpx::exclusive_scan(policy, v.begin(), v.end(), a.begin(), 5);
    std::exclusive_scan(v.begin(), v.end(), b.begin(), 5);
    HPX_TEST(a == b);

    long sum = 1;
    int least = 5000;
    int at_end = 0;
    hpx::experimental::for_loop(
        policy, std::size_t(0), v.size(), hpx::experimental::reduction_plus(sum),
        hpx::experimental::reduction_min(least), hpx::experimental::induction(at_end, 2),
        [&](std::size_t i, long& part, int& smallest, int twice) {
            HPX_TEST_EQ(std::size_t(twice), 2 * i);
            part += v[i];
            smallest = std::min(smallest, v[i]);
        });
    HPX_TEST_EQ(sum, total + 1);
    HPX_TEST_EQ(least, *std::min_element(v.begin(), v.end()));
    HPX_TEST_EQ(std::size_t(at_end), 2 * v.size());

    std::vector<int> every_third(9, 0);
    hpx::experimental::for_loop_strided(policy, 0, 9, 3,
                                        [&](int i) { every_third[std::size_t(i)] = 1; });
    HPX_TEST((every_third == std::vector<int>{1, 0, 0, 1, 0, 0, 1, 0, 0}));
}

template <class Policy>
void sorts(Policy const& policy) {
    for (std::size_t const n : {0u, 1u, 3000u, 50000u}) {
        std::vector<int> a = numbers(n), b = a;
        hpx::sort(policy, a.begin(), a.end());
        std::sort(b.begin(), b.end());
        HPX_TEST(a == b);
        HPX_TEST(hpx::is_sorted(policy, a.begin(), a.end()));
        hpx::sort(policy, a.begin(), a.end(), std::greater<>());  // from the other order
        std::reverse(b.begin(), b.end());
        HPX_TEST(a == b);
        auto by_tens = [](int x, int y) { return x / 10 < y / 10; };
        a = b = numbers(n);
        hpx::stable_sort(policy, a.begin(), a.end(), by_tens);
        std::stable_sort(b.begin(), b.end(), by_tens);
        HPX_TEST(a == b);
    }
}

void with_futures_and_errors() {
    using hpx::execution::par;
    using hpx::execution::task;
    std::vector<int> v = numbers(10000);
    hpx::future<long> sum = hpx::reduce(par(task), v.begin(), v.end(), 0L);
    hpx::future<void> sorted = sum.then([&](hpx::future<long> f) {
        HPX_TEST_EQ(f.get(), std::accumulate(v.begin(), v.end(), 0L));
        return hpx::sort(par(task), v.begin(), v.end());
    });
    sorted.get();
    HPX_TEST(std::is_sorted(v.begin(), v.end()));

    std::list<int> chain(100, 1);  // no random access
    hpx::for_each(par, chain.begin(), chain.end(), [](int& i) { ++i; });
    HPX_TEST_EQ(std::accumulate(chain.begin(), chain.end(), 0), 200);

    hpx::execution::experimental::static_chunk_size const chunk(100);
    hpx::for_each(par.with(chunk), v.begin(), v.end(), [](int& i) { i = 1; });
    HPX_TEST_EQ(hpx::reduce(par, v.begin(), v.end()), 10000);

    try {
        hpx::for_each(par, v.begin(), v.end(), [](int) { throw std::runtime_error("wrong"); });
        HPX_TEST(false);
    } catch (hpx::exception_list const& errors) {
        HPX_TEST_LTE(std::size_t(1), errors.size());
    }
}

int main() {
    elements(hpx::execution::seq);
    elements(hpx::execution::par);
    elements(hpx::execution::par_unseq);
    sums(hpx::execution::seq);
    sums(hpx::execution::par);
    sorts(hpx::execution::seq);
    sorts(hpx::execution::par);
    with_futures_and_errors();
    return hpx::util::report_errors();
}
