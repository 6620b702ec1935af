// SPDX-License-Identifier: BSL-1.0
// Vectors in parts at all localities, against a std::vector with the same elements.
#include "on_job.hpp"

#include <quern/localities/partitioned_vector.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace quern_test;
using quern::localities::count;
using quern::localities::here;
using quern::localities::partitioned_vector;
using quern::localities::remote_error;
using quern::localities::run_at;

class partitioned_vector_test : public on_job {};
QUERN_ON_1_2_WORKERS(partitioned_vector_test);

std::uint64_t scramble(std::uint64_t i) { return (i * 2654435761U + 12345) % 100'003; }

/// Element i is scramble(i).
partitioned_vector<std::uint64_t> scrambled(std::uint64_t size,
                                            const std::vector<double>& weights) {
    const partitioned_vector<std::uint64_t> made(size, 0, weights);
    made.for_each_index([](std::uint64_t i, std::uint64_t& each) { each = scramble(i); }).get();
    return made;
}
std::vector<std::uint64_t> scrambled_here(std::uint64_t size) {
    std::vector<std::uint64_t> all(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = scramble(i);
    }
    return all;
}

/// None, few, as many as fit, many; and weights, one of which is 0.
template <class F>
void for_several_sizes(F f) {
    std::vector<double> weights(static_cast<std::size_t>(count()), 1.0);
    weights.front() = count() > 1 ? 0.0 : 1.0;
    weights.back() = 2.5;
    for (const std::uint64_t size : {0U, 1U, 3U, 17U, scaled(20'000U, 3'000U)}) {
        f(size, std::vector<double>());
        f(size, weights);
    }
}

// Holds: partitioned_vector: its parts have all elements, in the order of the localities.
TEST_P(partitioned_vector_test, has_parts) {
    for_several_sizes([](std::uint64_t size, const std::vector<double>& weights) {
        const auto x = scrambled(size, weights);
        EXPECT_EQ(x.size(), size);
        EXPECT_EQ(x.parts(), count());
        std::uint64_t begin = 0;
        for (int part = 0; part < count(); ++part) {
            EXPECT_EQ(x.first_of(part), begin);
            EXPECT_EQ(x.part(part).last_known_place(), part);
            begin += x.size_of(part);
        }
        EXPECT_EQ(begin, size);
        EXPECT_EQ(x.to_vector().get(), scrambled_here(size));
    });
    const partitioned_vector<int> even(4 * static_cast<std::uint64_t>(count()));
    EXPECT_EQ(even.size_of(count() - 1), 4U);
}

// Holds: partitioned_vector: get() and set() reach an element wherever it is.
TEST_P(partitioned_vector_test, has_elements) {
    const partitioned_vector<std::string> words(10, "a");
    for (std::uint64_t i = 0; i < 10; ++i) {
        words.set(i, std::to_string(i)).get();
    }
    for (std::uint64_t i = 0; i < 10; ++i) {
        EXPECT_EQ(words.get(i).get(), std::to_string(i));
    }
    try {
        static_cast<void>(words.get(10));
        FAIL();
    } catch (const std::out_of_range& error) {
        EXPECT_STREQ(
            error.what(),
            "quern: localities::partitioned_vector: index 10; accepted: below the size, 10");
    }
}

// Holds: partitioned_vector: for_each() calls the function for each element, with its arguments.
TEST_P(partitioned_vector_test, for_each) {
    for_several_sizes([](std::uint64_t size, const std::vector<double>& weights) {
        const auto x = scrambled(size, weights);
        const auto add = [](std::uint64_t& each, std::uint64_t by) { each += by; };
        x.for_each(add, std::uint64_t{5}).get();
        std::vector<std::uint64_t> expected = scrambled_here(size);
        for (std::uint64_t& each : expected) {
            each += 5;
        }
        EXPECT_EQ(x.to_vector().get(), expected);
    });
}

// Holds: partitioned_vector: reduce() combines all elements, or what map makes of them.
TEST_P(partitioned_vector_test, reduce) {
    for_several_sizes([](std::uint64_t size, const std::vector<double>& weights) {
        const auto x = scrambled(size, weights);
        const auto all = scrambled_here(size);
        EXPECT_EQ(x.reduce(std::uint64_t{7}, std::plus<>()).get(),
                  std::accumulate(all.begin(), all.end(), std::uint64_t{7}));
        const auto larger = [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); };
        const auto digit = [](const std::uint64_t& each) { return each % 10; };
        std::uint64_t largest = 0;
        for (const std::uint64_t each : all) {
            largest = std::max(largest, each % 10);
        }
        EXPECT_EQ(x.reduce(std::uint64_t{0}, larger, digit).get(), largest);
    });
}

// Holds: partitioned_vector: inclusive_scan() combines the elements up to each.
TEST_P(partitioned_vector_test, inclusive_scan) {
    for_several_sizes([](std::uint64_t size, const std::vector<double>& weights) {
        const auto x = scrambled(size, weights);
        x.inclusive_scan(std::plus<>()).get();
        auto expected = scrambled_here(size);
        std::partial_sum(expected.begin(), expected.end(), expected.begin());
        EXPECT_EQ(x.to_vector().get(), expected);
    });
}

// Holds: partitioned_vector: sort() sorts all, and parts keep their sizes.
TEST_P(partitioned_vector_test, sort) {
    for_several_sizes([](std::uint64_t size, const std::vector<double>& weights) {
        const auto x = scrambled(size, weights);
        x.sort().get();
        auto expected = scrambled_here(size);
        std::sort(expected.begin(), expected.end());
        EXPECT_EQ(x.to_vector().get(), expected);
        x.for_each_index([](std::uint64_t i, std::uint64_t& each) { each = i % 3; }).get();
        x.sort(std::greater<>()).get();  // many that are equal
        for (std::size_t i = 0; i < expected.size(); ++i) {
            expected[i] = i % 3;
        }
        std::sort(expected.begin(), expected.end(), std::greater<>());
        EXPECT_EQ(x.to_vector().get(), expected);
    });
    const partitioned_vector<std::string> words(50, "");
    words
        .for_each_index(
            [](std::uint64_t i, std::string& each) { each = std::to_string(scramble(i)); })
        .get();
    words.sort().get();
    const auto sorted = words.to_vector().get();
    EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
    EXPECT_EQ(sorted.size(), 50U);
}

// Holds: partitioned_vector: if the comparison of sort() throws no element is lost.
TEST_P(partitioned_vector_test, sort_fails_without_loss) {
    struct picky {
        bool operator()(std::uint64_t a, std::uint64_t b) const {
            return a == 77 || b == 77 ? throw std::range_error("not this one") : a < b;
        }
    };
    const std::uint64_t size = 500;
    const partitioned_vector<std::uint64_t> x(size);
    x.for_each_index([](std::uint64_t i, std::uint64_t& each) { each = size - i; }).get();
    EXPECT_THROW(x.sort(picky()).get(), remote_error);
    auto all = x.to_vector().get();
    std::sort(all.begin(), all.end());
    std::vector<std::uint64_t> expected(static_cast<std::size_t>(size));
    std::iota(expected.begin(), expected.end(), std::uint64_t{1});
    EXPECT_EQ(all, expected);
    for (int part = 0; part < count(); ++part) {
        const auto size_there = [](const std::vector<std::uint64_t>& of) { return of.size(); };
        EXPECT_EQ(x.part(part).call(size_there).get(), x.size_of(part));
    }
    x.sort().get();
    EXPECT_EQ(x.get(size - 1).get(), size);
}

// Holds: partitioned_vector: it travels, and copies are the same vector.
TEST_P(partitioned_vector_test, travels) {
    const partitioned_vector<int> x(100, 1);
    const auto sum_at = [](const partitioned_vector<int>& of) {
        of.set(0, 10).get();
        return of.reduce(0, std::plus<>()).get();
    };
    EXPECT_EQ(run_at(next_locality(), sum_at, x).get(), 109);
    EXPECT_EQ(x.get(0).get(), 10);
}

// Holds: partitioned_vector: what a function throws arrives as a remote_error.
TEST_P(partitioned_vector_test, tells_exceptions) {
    const partitioned_vector<int> x(100, 1);
    try {
        x.for_each([](int&) { throw std::range_error("not this one"); }).get();
        FAIL();
    } catch (const remote_error& error) {
        EXPECT_EQ(error.report().message, "not this one");
    }
    EXPECT_THROW(partitioned_vector<int>(5, 0, {1.0, -1.0}), std::invalid_argument);
    EXPECT_THROW(
        partitioned_vector<int>(5, 0, std::vector<double>(static_cast<std::size_t>(count()), 0.0)),
        std::invalid_argument);
}

}  // namespace
