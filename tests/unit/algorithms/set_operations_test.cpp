// SPDX-License-Identifier: BSL-1.0
// includes and the set operations give what those of the standard give, with elements of the same
// range where several are equal.
#include <quern/algorithms/set_operations.hpp>

#include "unit/algorithms/policies.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

using numbers = std::vector<int>;

/// Elements that are equal by key, and say which range they are from.
struct tagged {
    int key;
    int origin;
    bool operator==(const tagged&) const = default;
};
using tags = std::vector<tagged>;

struct by_key {
    bool operator()(const tagged& a, const tagged& b) const { return a.key < b.key; }
};

struct throws_in_a_comparison {
    bool operator()(int a, int b) const {
        return a == -1 || b == -1 ? throw std::runtime_error("minus one") : a < b;
    }
};

class combining_sets : public quern_test::on_policies {};
QUERN_ON_1_2_8_WORKERS(combining_sets);

/// n sorted elements whose keys are below `range`; each origin is another number.
tags sorted_tags(std::size_t n, int range, int origin) {
    numbers keys = quern_test::numbers(n, range);
    std::sort(keys.begin(), keys.end());
    tags all;
    for (const int key : keys) {
        all.push_back({key, origin++});
    }
    return all;
}

/// Pairs of ranges: few and many equal elements, one longer than the other, apart, the same, empty.
/// Made once, since sorting them takes longer than most checks.
const std::vector<std::pair<tags, tags>>& pairs() {
    static const auto the_pairs = [] {
        constexpr int k_other = 10'000'000;
        const auto most = quern_test::scaled<std::size_t>(100'003, 20'003);
        std::vector<std::pair<tags, tags>> all;
        for (const int range : {1, 100, 1'000'000}) {
            for (const std::size_t n : {std::size_t{0}, std::size_t{1000}, most}) {
                for (const std::size_t n2 : {std::size_t{0}, std::size_t{17}, most / 2}) {
                    all.emplace_back(sorted_tags(n, range, 0), sorted_tags(n2, range, k_other));
                }
            }
        }
        tags apart = sorted_tags(most, 1'000'000, k_other);
        for (tagged& each : apart) {
            each.key += 1'000'000;
        }
        all.emplace_back(sorted_tags(most, 1'000'000, 0), apart);
        all.emplace_back(apart, sorted_tags(most, 1'000'000, 0));
        return all;
    }();
    return the_pairs;
}

/// Calls check(x, y) for each of them.
template <class Check>
void for_pairs(Check&& check) {
    for (const auto& [x, y] : pairs()) {
        check(x, y);
    }
}

/// Compares expected(x, y, out) of the standard with found(how, x, y, out), for all pairs and
/// policies.
template <class Expected, class Found>
void compare_results(Expected expected, Found found) {
    for_pairs([&](const tags& x, const tags& y) {
        tags right(x.size() + y.size(), {-7, -7});
        const auto right_end = expected(x, y, right.begin());
        quern_test::for_every_policy([&](const auto& run) {
            tags out(right.size(), {-7, -7});
            const auto end = run([&](auto how) { return found(how, x, y, out.begin()); });
            EXPECT_EQ(end - out.begin(), right_end - right.begin());
            EXPECT_TRUE(out == right);
        });
    });
}

TEST_P(combining_sets, set_union_takes_the_larger_number_of_equal_elements) {
    inside([] {
        compare_results(
            [](const tags& x, const tags& y, auto out) {
                return std::set_union(x.begin(), x.end(), y.begin(), y.end(), out, by_key());
            },
            [](auto how, const tags& x, const tags& y, auto out) {
                return quern::set_union(how, x, y, out, by_key());
            });
    });
}

TEST_P(combining_sets, set_intersection_takes_the_smaller_number_of_equal_elements) {
    inside([] {
        compare_results(
            [](const tags& x, const tags& y, auto out) {
                return std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), out, by_key());
            },
            [](auto how, const tags& x, const tags& y, auto out) {
                return quern::set_intersection(how, x, y, out, by_key());
            });
    });
}

TEST_P(combining_sets, set_difference_takes_the_last_ones_of_equal_elements) {
    inside([] {
        compare_results(
            [](const tags& x, const tags& y, auto out) {
                return std::set_difference(x.begin(), x.end(), y.begin(), y.end(), out, by_key());
            },
            [](auto how, const tags& x, const tags& y, auto out) {
                return quern::set_difference(how, x, y, out, by_key());
            });
    });
}

TEST_P(combining_sets, set_symmetric_difference_takes_the_last_ones_of_the_longer_row) {
    inside([] {
        compare_results(
            [](const tags& x, const tags& y, auto out) {
                return std::set_symmetric_difference(x.begin(), x.end(), y.begin(), y.end(), out,
                                                     by_key());
            },
            [](auto how, const tags& x, const tags& y, auto out) {
                return quern::set_symmetric_difference(how, x, y, out, by_key());
            });
    });
}

TEST_P(combining_sets, includes_counts_equal_elements) {
    inside([] {
        for_pairs([](const tags& x, const tags& y) {
            tags some;
            for (std::size_t i = 0; i < x.size(); i += 3) {
                some.push_back(x[i]);
            }
            tags with_another = some;
            if (!some.empty()) {
                with_another.insert(with_another.end(), x.size(), some.back());
            }
            quern_test::for_every_policy([&](const auto& run) {
                const auto included = [&](const tags& in, const tags& all) {
                    return run([&](auto how) { return quern::includes(how, in, all, by_key()); });
                };
                EXPECT_TRUE(included(x, x));
                EXPECT_TRUE(included(x, some));
                for (const tags& all : {y, with_another}) {
                    EXPECT_EQ(included(x, all),
                              std::includes(x.begin(), x.end(), all.begin(), all.end(), by_key()));
                }
            });
        });
    });
}

TEST_P(combining_sets, takes_elements_of_two_types_and_those_that_are_no_plain_data) {
    inside([] {
        numbers x = quern_test::numbers(50'000, 100'000);
        std::sort(x.begin(), x.end());
        const numbers other = quern_test::numbers(30'000, 100'000);
        std::vector<long> y(other.begin(), other.end());
        std::sort(y.begin(), y.end());
        std::vector<long> expected, found(x.size() + y.size());
        std::set_union(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(expected));
        found.erase(quern::set_union(quern::par, x, y, found.begin()), found.end());
        EXPECT_EQ(found, expected);
        std::vector<std::string> words, words2, in_both(x.size()), in_both_expected;
        for (const int each : x) {
            words.push_back(std::to_string(each));
        }
        for (const long each : y) {
            words2.push_back(std::to_string(each));
        }
        std::sort(words.begin(), words.end());
        std::sort(words2.begin(), words2.end());
        std::set_intersection(words.begin(), words.end(), words2.begin(), words2.end(),
                              std::back_inserter(in_both_expected));
        in_both.erase(quern::set_intersection(quern::par, words, words2, in_both.begin()),
                      in_both.end());
        EXPECT_EQ(in_both, in_both_expected);
    });
}

struct by_value {
    bool operator()(const std::unique_ptr<int>& a, const std::unique_ptr<int>& b) const {
        return *a < *b;
    }
};

TEST_P(combining_sets, moves_elements_that_cannot_be_copied) {
    inside([] {
        const auto owners = [](std::size_t n) {
            numbers keys = quern_test::numbers(n);
            std::sort(keys.begin(), keys.end());
            std::vector<std::unique_ptr<int>> all;
            for (const int key : keys) {
                all.push_back(std::make_unique<int>(key));
            }
            return all;
        };
        auto x = owners(50'000);
        auto y = owners(40'000);
        numbers a, b, expected;
        std::transform(x.begin(), x.end(), std::back_inserter(a), [](auto& e) { return *e; });
        std::transform(y.begin(), y.end(), std::back_inserter(b), [](auto& e) { return *e; });
        std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(expected));
        std::vector<std::unique_ptr<int>> out(x.size() + y.size());
        out.erase(
            quern::set_union(quern::par, std::make_move_iterator(x.begin()),
                             std::make_move_iterator(x.end()), std::make_move_iterator(y.begin()),
                             std::make_move_iterator(y.end()), out.begin(), by_value()),
            out.end());
        numbers found;
        std::transform(out.begin(), out.end(), std::back_inserter(found),
                       [](auto& e) { return *e; });
        EXPECT_EQ(found, expected);
    });
}

TEST_P(combining_sets, runs_in_order_over_iterators_of_single_steps) {
    inside([] {
        const std::list<int> x = {1, 1, 2, 5}, y = {1, 2, 2, 7};
        numbers found;
        quern::set_symmetric_difference(quern::par, x, y, std::back_inserter(found));
        EXPECT_EQ(found, (numbers{1, 2, 5, 7}));
        EXPECT_FALSE(quern::includes(quern::par, x, y));
    });
}

TEST_P(combining_sets, obeys_chunkers_and_pools) {
    inside([] {
        quern::runtime other(quern::runtime_options::with_workers(2));
        numbers x = quern_test::numbers(50'000), y = quern_test::numbers(40'000);
        std::sort(x.begin(), x.end(), std::greater<>());
        std::sort(y.begin(), y.end(), std::greater<>());
        numbers expected;
        std::set_difference(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(expected),
                            std::greater<>());
        const auto check = [&](auto how) {
            numbers found(x.size());
            found.erase(quern::set_difference(how, x, y, found.begin(), std::greater<>()),
                        found.end());
            EXPECT_EQ(found, expected);
            EXPECT_TRUE(quern::includes(how, x, found, std::greater<>()));
        };
        check(quern::par.on(other));
        check(quern::par.with(quern::static_chunk_size(1000)));
        check(quern::par.with(quern::grain::fixed(777)));
    });
}

TEST_P(combining_sets, throws_the_exception_of_a_comparison) {
    inside([] {
        numbers x = quern_test::numbers(100'003);
        std::sort(x.begin(), x.end());
        numbers y = x;
        y[70'000] = -1;
        numbers out(x.size() + y.size());
        quern_test::for_every_policy([&](const auto& run) {
            EXPECT_THROW(run([&](auto how) {
                             return quern::set_union(how, x, y, out.begin(),
                                                     throws_in_a_comparison());
                         }),
                         std::runtime_error);
            EXPECT_THROW(
                run([&](auto how) { return quern::includes(how, x, y, throws_in_a_comparison()); }),
                std::runtime_error);
        });
    });
}

TEST(combining_sets_from_outside, runs_on_the_default_runtime) {
    for (const std::size_t n : quern_test::sizes()) {
        numbers x = quern_test::numbers(n, 1000), y = quern_test::numbers(n, 900);
        std::sort(x.begin(), x.end());
        std::sort(y.begin(), y.end());
        numbers expected, found(2 * n);
        std::set_difference(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(expected));
        found.erase(quern::set_difference(quern::par, x, y, found.begin()), found.end());
        EXPECT_EQ(found, expected);
    }
}

}  // namespace
