// SPDX-License-Identifier: BSL-1.0
// The random generator: reproducible from its seed, within its bound, evenly spread.
#include <quern/base/detail/rng.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>

namespace {

using quern::detail::rng;

TEST(rng, repeats_itself_with_the_same_seed) {
    rng a(42), b(42), c(43);
    bool all_equal_to_c = true;
    for (int i = 0; i < 100; ++i) {
        const std::uint64_t value = a.next();
        EXPECT_EQ(value, b.next());
        all_equal_to_c = all_equal_to_c && value == c.next();
    }
    EXPECT_FALSE(all_equal_to_c);
}

TEST(rng, works_with_every_seed_that_a_worker_can_have) {
    for (std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4096},
                               std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
        rng r(seed);
        std::set<std::uint64_t> seen;
        for (int i = 0; i < 100; ++i) {
            seen.insert(r.next());
        }
        EXPECT_EQ(seen.size(), 100U) << "seed " << seed;
    }
}

TEST(rng, stays_below_the_bound) {
    rng r(7);
    for (const std::uint32_t bound : {1U, 2U, 3U, 1000U, ~0U}) {
        for (int i = 0; i < 1000; ++i) {
            ASSERT_LT(r.below(bound), bound);
        }
    }
}

TEST(rng, spreads_evenly) {
    constexpr std::uint32_t k_bins = 8;
    constexpr int k_draws = 80'000;
    std::array<int, k_bins> count{};
    rng r(1);
    for (int i = 0; i < k_draws; ++i) {
        ++count[r.below(k_bins)];
    }
    for (const int n : count) {
        EXPECT_NEAR(n, k_draws / k_bins, 500);  // five standard deviations
    }
}

}  // namespace
