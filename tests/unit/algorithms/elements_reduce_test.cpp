// SPDX-License-Identifier: BSL-1.0
// The algorithms that combine elements, over elements that are temporaries, bits, or can only be
// moved: the serial formula's value. What a map, or the operation, makes of a temporary may refer
// to it; under the address sanitizer a use after its end fails.
#include <quern/algorithms/adjacent_difference.hpp>
#include <quern/algorithms/parallel_for.hpp>
#include <quern/algorithms/reduce.hpp>
#include <quern/algorithms/scan.hpp>

#include "unit/algorithms/elements.hpp"

#include <functional>
#include <numeric>

namespace {

using namespace quern_test;

constexpr int k_values = 5'000;

class combining_elements : public over_elements {};
QUERN_ON_1_2_8_WORKERS(combining_elements);

/// A sum, and the one of a single text.
struct total {
    long sum;

    explicit total(long n) : sum(n) {}
    total(const std::string& text) : sum(number_of(text)) {}  // NOLINT(google-explicit-constructor)
};
/// Returns an argument.
struct add_to : move_only {
    total&& operator()(total&& a, total&& b) const {
        a.sum += b.sum;
        return std::move(a);
    }
};

/// The larger one of two texts. It returns an argument.
struct larger {
    std::string&& operator()(std::string&& a, std::string&& b) const {
        return std::move(a < b ? b : a);
    }
    std::string operator()(const std::string& a, const std::string& b) const {
        return a < b ? b : a;
    }
};

/// Hands on what it is given, so that a temporary stays one.
struct hand_on : move_only {
    auto&& operator()(auto&& element) const { return std::forward<decltype(element)>(element); }
};
/// As a reference to an object, which a temporary is not.
struct hand_on_as_object : move_only {
    const auto& operator()(const auto& element) const { return element; }
};

long sum_of(const ints& data) { return std::accumulate(data.begin(), data.end(), 0L); }

TEST_P(combining_elements, reduce_of_temporaries) {
    compare(k_values, [](auto policy, const ints& data) {
        const auto made = texts(data);
        const auto first = made.begin();
        const auto last = made.end();
        const long sum = sum_of(data);
        EXPECT_EQ(sum, quern::reduce(policy, first, last, total(0), add_to()).sum);
        EXPECT_EQ(sum, quern::reduce_deterministic(policy, first, last, total(0), add_to()).sum);
        EXPECT_EQ(sum,
                  quern::transform_reduce(policy, first, last, total(0), add_to(), hand_on()).sum);
        EXPECT_EQ(sum, quern::transform_reduce(policy, first, last, total(0), add_to(),
                                               hand_on_as_object())
                           .sum);
        const auto both = [](auto&& a, auto&&) -> auto&& { return std::forward<decltype(a)>(a); };
        EXPECT_EQ(
            sum, quern::transform_reduce(policy, first, last, first, total(0), add_to(), both).sum);
        EXPECT_EQ(
            sum,
            quern::reduce(policy(quern::as_future), first, last, total(0), add_to()).get().sum);
        const ints most{0, data.empty() ? 0 : *std::max_element(data.begin(), data.end())};
        EXPECT_EQ(text_of(most[1]), quern::reduce(policy, first, last, text_of(0), larger()));
    });
}

TEST_P(combining_elements, reduce_of_indices) {
    inside([] {
        for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{20'000}}) {
            const auto indices = std::views::iota(std::size_t{0}, n);
            const std::size_t sum = n * (n + 1) / 2 - n;
            EXPECT_EQ(sum, quern::reduce(quern::par, indices, std::size_t{0}));
            EXPECT_EQ(sum, quern::reduce(quern::seq, indices, std::size_t{0}, std::plus<>()));
            EXPECT_EQ(sum, quern::reduce(quern::par, indices));
        }
    });
}

TEST_P(combining_elements, reduce_of_bits) {
    compare(2, [](auto policy, const ints& data) {
        bits x(data);
        const long sum = sum_of(data);
        EXPECT_EQ(sum, quern::reduce(policy, x.begin(), x.end(), 0L));
        EXPECT_EQ(sum, quern::reduce(policy, x.begin(), x.end(), 0L, std::plus<long>()));
        EXPECT_EQ(sum, quern::reduce_deterministic(policy, x.all.cbegin(), x.all.cend(), 0L));
        EXPECT_EQ(sum, quern::transform_reduce(policy, x.all.cbegin(), x.all.cend(), 0L,
                                               std::plus<>(), hand_on()));
        EXPECT_EQ(sum, quern::transform_reduce(policy, x.begin(), x.end(), x.begin(), 0L));
    });
}

TEST_P(combining_elements, reduce_of_elements_that_can_only_be_moved) {
    compare(k_values, [](auto policy, const ints& data) {
        singles x(data);
        const auto add = [](single&& a, single&& b) -> single&& {
            a.number += number_of(b);
            return std::move(a);
        };
        const single sum = quern::reduce(policy, std::make_move_iterator(x.begin()),
                                         std::make_move_iterator(x.end()), single(3), add);
        EXPECT_EQ(sum_of(data) + 3, number_of(sum));
        const single again =
            quern::transform_reduce(policy, x.begin(), x.end(), single(3), add,
                                    [](single& e) -> single&& { return std::move(e); });
        EXPECT_EQ(sum_of(data) + 3, number_of(again));
    });
}

TEST_P(combining_elements, reduce_of_aligned_values) {
    compare(k_values, [](auto policy, const ints& data) {
        const wides x(data);
        const auto add = [](const wide& a, const wide& b) {
            return wide(number_of(a) + number_of(b));
        };
        auto sum =
            quern::reduce(policy(quern::as_future), x.all.begin(), x.all.end(), wide(0), add);
        EXPECT_EQ(sum_of(data), number_of(sum.get()));
        EXPECT_EQ(sum_of(data), number_of(quern::reduce_deterministic(policy, x.all.begin(),
                                                                      x.all.end(), wide(0), add)));
    });
}

TEST_P(combining_elements, parallel_reduce_by_a_function_that_returns_an_argument) {
    compare(k_values, [](auto, const ints& data) {
        const auto most = quern::parallel_reduce(
            std::size_t{0}, data.size(), text_of(0),
            [&](std::size_t i) { return text_of(data[i]); }, larger());
        const int expected = data.empty() ? 0 : *std::max_element(data.begin(), data.end());
        EXPECT_EQ(text_of(expected), most);
    });
}

/// The sums up to each element, behind `initial`.
ints inclusive(const ints& data, int initial) {
    ints sums(data.size());
    for (std::size_t i = 0; i < data.size(); ++i) {
        sums[i] = initial += data[i];
    }
    return sums;
}
ints exclusive(const ints& data, int initial) {
    ints sums = inclusive(data, initial);
    sums.insert(sums.begin(), initial);
    sums.pop_back();
    return sums;
}

/// Texts of sums.
struct add_texts : move_only {
    std::string operator()(const std::string& a, const std::string& b) const {
        return text_of(number_of(a) + number_of(b));
    }
};

TEST_P(combining_elements, scans_of_temporaries) {
    compare(1'000, [](auto policy, const ints& data) {
        const auto made = texts(data);
        const auto first = made.begin();
        const auto last = made.end();
        zips out(ints(data.size()));
        const auto sums = [&] { return numbers_of(out.text.begin(), out.text.end()); };
        auto to = out.text.begin();
        EXPECT_TRUE(out.text.end() == quern::inclusive_scan(policy, first, last, to, add_texts()));
        EXPECT_TRUE(inclusive(data, 0) == sums());
        quern::inclusive_scan(policy, first, last, to, add_texts(), text_of(5));
        EXPECT_TRUE(inclusive(data, 5) == sums());
        quern::exclusive_scan(policy, first, last, to, text_of(7), add_texts());
        EXPECT_TRUE(exclusive(data, 7) == sums());
        quern::transform_inclusive_scan(policy, first, last, to, add_texts(), hand_on());
        EXPECT_TRUE(inclusive(data, 0) == sums());
        quern::transform_inclusive_scan(policy, first, last, to, add_texts(), hand_on_as_object(),
                                        text_of(5));
        EXPECT_TRUE(inclusive(data, 5) == sums());
        quern::transform_exclusive_scan(policy, first, last, to, text_of(7), add_texts(),
                                        hand_on());
        EXPECT_TRUE(exclusive(data, 7) == sums());
    });
}

TEST_P(combining_elements, scans_of_bits) {
    compare(2, [](auto policy, const ints& data) {
        bits x(data);
        ints out(data.size());
        quern::inclusive_scan(policy, x.begin(), x.end(), out.begin(), std::plus<>(), 0);
        EXPECT_TRUE(inclusive(data, 0) == out);
        quern::exclusive_scan(policy, x.begin(), x.end(), out.begin(), 3);
        EXPECT_TRUE(exclusive(data, 3) == out);
        // The sums are values, though the map hands on references to bits.
        quern::transform_inclusive_scan(policy, x.begin(), x.end(), out.begin(),
                                        std::logical_or<>(), hand_on());
        EXPECT_TRUE(data == numbers_of(x.begin(), x.end()));
        bool has_one = false;
        for (std::size_t i = 0; i < data.size(); ++i) {
            has_one = has_one || data[i] != 0;
            ASSERT_EQ(has_one, out[i] != 0);
        }
    });
}

TEST_P(combining_elements, scans_of_elements_that_can_only_be_moved) {
    compare(k_values, [](auto policy, const ints& data) {
        singles x(data);
        singles out(data);
        const auto add = [](const single& a, const single& b) {
            return single(number_of(a) + number_of(b));
        };
        quern::exclusive_scan(policy, x.begin(), x.end(), out.begin(), single(7), add);
        EXPECT_TRUE(exclusive(data, 7) == numbers_of(out.begin(), out.end()));
    });
}

TEST_P(combining_elements, scans_read_moved_elements_once) {
    compare(1'000, [](auto policy, const ints& data) {
        zips x(data);
        zips out(ints(data.size()));
        quern::inclusive_scan(policy, std::make_move_iterator(x.text.begin()),
                              std::make_move_iterator(x.text.end()), out.text.begin(),
                              [](std::string a, std::string b) {  // NOLINT: takes what is moved
                                  return add_texts()(a, b);
                              });
        EXPECT_TRUE(inclusive(data, 0) == numbers_of(out.text.begin(), out.text.end()));
    });
}

TEST_P(combining_elements, adjacent_difference) {
    compare(k_values, [](auto policy, const ints& data) {
        const auto made = texts(data);
        ints expected(data.size());
        std::adjacent_difference(data.begin(), data.end(), expected.begin());
        const auto difference = [](const std::string& a, const std::string& b) {
            return text_of(number_of(a) - number_of(b) + k_values);
        };
        std::vector<std::string> out(data.size());
        quern::adjacent_difference(policy, made.begin(), made.end(), out.begin(), difference);
        for (std::size_t i = 1; i < data.size(); ++i) {
            ASSERT_EQ(expected[i] + k_values, number_of(out[i]));
        }
        bits x(ints(data.size(), 1));
        quern::adjacent_difference(policy, x.begin(), x.end(), expected.begin());
        EXPECT_TRUE(data.empty() || (expected[0] == 1 && expected.back() == (data.size() == 1)));
    });
}

}  // namespace
