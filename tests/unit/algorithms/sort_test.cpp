// SPDX-License-Identifier: BSL-1.0
// sort, stable_sort and sort_by_key order elements as those of the standard, and lose none when a
// comparison throws.
#include <quern/algorithms/sort.hpp>

#include "unit/algorithms/sorting_data.hpp"

#include <deque>
#include <functional>
#include <string>

namespace {

using numbers = std::vector<int>;
using quern_test::owned;
using quern_test::sorted;

class sorting : public quern_test::on_policies {
protected:
    /// Calls check(run, data) with data of every order, short and long, for every policy.
    template <class Check>
    void compare_orders(Check check) {
        inside([&] {
            for (const std::size_t n : {0UL, 1UL, 2UL, 3UL, 25UL, 1'000UL, quern_test::k_long}) {
                for (const numbers& data : quern_test::orders(n)) {
                    quern_test::for_policies_with(n, [&](const auto& run) { check(run, data); });
                }
            }
        });
    }
};
QUERN_ON_1_2_8_WORKERS(sorting);

TEST_P(sorting, sorts_numbers_in_every_order) {
    compare_orders([](const auto& run, const numbers& data) {
        numbers x = data;
        run([&](auto how) { return quern::sort(how, x.begin(), x.end()); });
        EXPECT_EQ(x, sorted(data));
    });
}

TEST_P(sorting, stably_sorts_numbers_in_every_order) {
    compare_orders([](const auto& run, const numbers& data) {
        numbers x = data;
        run([&](auto how) { return quern::stable_sort(how, x); });
        EXPECT_EQ(x, sorted(data));
    });
}

TEST_P(sorting, keeps_the_order_of_equal_elements) {
    inside([&] {
        struct numbered {
            int key;
            int number;
            bool operator==(const numbered&) const = default;
        };
        std::vector<numbered> data;
        for (const int key : quern_test::numbers(quern_test::k_long, 50)) {
            data.push_back({key, static_cast<int>(data.size())});
        }
        const auto less = [](const numbered& a, const numbered& b) { return a.key < b.key; };
        std::vector<numbered> expected = data;
        std::stable_sort(expected.begin(), expected.end(), less);
        for (const auto& how : {quern::par.with(quern::grain::fixed(100)),
                                quern::par.with(quern::grain::automatic())}) {
            std::vector<numbered> x = data;
            quern::stable_sort(how, x, less);
            EXPECT_EQ(x, expected);
        }
        std::deque<numbered> x(data.begin(), data.end());
        quern::stable_sort(quern::par, x, less);
        EXPECT_TRUE(std::equal(x.begin(), x.end(), expected.begin(), expected.end()));
    });
}

TEST_P(sorting, sorts_in_the_chunks_and_on_the_pool_of_the_policy) {
    inside([&] {
        const numbers data = quern_test::numbers(quern_test::k_long);
        const auto sorts = [&data](const auto& how) {
            numbers x = data;
            quern::sort(how, x, std::greater<>());
            std::reverse(x.begin(), x.end());
            EXPECT_EQ(x, sorted(data));
        };
        sorts(quern::par.with(quern::static_chunk_size(1)));
        sorts(quern::par.with(quern::dynamic_chunk_size(1'000)).on(rt));
        sorts(quern::par.with(quern::auto_chunk_size()));
        sorts(quern::par.on(quern::runtime::default_instance()));
    });
}

TEST_P(sorting, sorts_elements_that_cannot_be_copied) {
    inside([&] {
        for (const std::size_t n : {0UL, 2UL, 1'000UL, quern_test::k_long}) {
            const numbers data = quern_test::numbers(n, 1'000);
            auto x = quern_test::made_of<owned>(data);
            quern::sort(quern::par, x);
            EXPECT_EQ(quern_test::values_of(x), sorted(data));
            x = quern_test::made_of<owned>(data);
            quern::stable_sort(quern::par, x);
            EXPECT_EQ(quern_test::values_of(x), sorted(data));
            auto y = quern_test::made_of<quern_test::unsafe_to_move>(data);
            quern::stable_sort(quern::par, y);
            EXPECT_EQ(quern_test::values_of(y), sorted(data));
        }
    });
}

TEST_P(sorting, keeps_all_elements_when_a_comparison_throws) {
    inside([&] {
        const numbers data = quern_test::numbers(quern_test::k_long);
        const auto sort = [](auto& x, auto less) { quern::sort(quern::par, x, less); };
        const auto stable = [](auto& x, auto less) { quern::stable_sort(quern::par, x, less); };
        quern_test::expect_to_keep_elements<int>(data, sort);
        quern_test::expect_to_keep_elements<owned>(data, sort);
        quern_test::expect_to_keep_elements<int>(data, stable);
        quern_test::expect_to_keep_elements<owned>(data, stable);
        quern_test::expect_to_keep_elements<quern_test::unsafe_to_move>(data, stable);
    });
}

TEST_P(sorting, throws_the_exception_of_a_comparison) {
    inside([&] {
        quern_test::for_every_policy([](const auto& run) {
            numbers x = quern_test::numbers(quern_test::k_long);
            const quern_test::failing_less first(10'000);
            EXPECT_THROW(run([&](auto how) { return quern::sort(how, x, first); }),
                         std::runtime_error);
            const quern_test::failing_less second(10'000);
            EXPECT_THROW(run([&](auto how) { return quern::stable_sort(how, x, second); }),
                         std::runtime_error);
        });
    });
}

// As for those of the standard the order is then unspecified.
TEST_P(sorting, stays_in_the_range_when_comparisons_contradict_each_other) {
    inside([&] {
        const numbers data = quern_test::numbers(quern_test::k_long);
        const auto always = [](const auto&, const auto&) { return true; };
        const auto odd = [](int a, int b) { return ((a ^ b) & 1) != 0; };
        for (const auto& less : {std::function<bool(int, int)>(always), {odd}}) {
            numbers x = data;
            quern::sort(quern::par, x, less);
            EXPECT_EQ(sorted(x), sorted(data));
            quern::stable_sort(quern::par, x, less);
        }
        auto x = quern_test::made_of<owned>(data);
        quern::sort(quern::par, x, always);
        quern::stable_sort(quern::par, x, always);
        EXPECT_EQ(sorted(quern_test::values_of(x)), sorted(data));
    });
}

TEST_P(sorting, sorts_bits) {
    inside([&] {
        std::vector<bool> x{true, false, true, true, false};
        quern::sort(quern::par, x);
        EXPECT_EQ(x, (std::vector<bool>{false, false, true, true, true}));
        quern::stable_sort(quern::par, x, std::greater<>());
        EXPECT_EQ(x, (std::vector<bool>{true, true, true, false, false}));
    });
}

TEST_P(sorting, moves_values_with_their_keys) {
    compare_orders([](const auto& run, const numbers& data) {
        numbers keys = data;
        numbers values;
        for (const int each : data) {
            values.push_back(3 * each);
        }
        const auto ends = run([&](auto how) {
            return quern::sort_by_key(how, keys.begin(), keys.end(), values.begin());
        });
        EXPECT_TRUE(ends.first == keys.end() && ends.second == values.end());
        EXPECT_EQ(keys, sorted(data));
        for (std::size_t i = 0; i < keys.size(); ++i) {
            ASSERT_EQ(values[i], 3 * keys[i]);
        }
    });
}

TEST_P(sorting, moves_values_that_cannot_be_copied_with_their_keys) {
    inside([&] {
        const numbers data = quern_test::numbers(quern_test::k_long);
        for (const long calls : {100L, 50'000L, 1'000'000'000L}) {
            std::vector<std::string> keys;
            for (const int each : data) {
                keys.push_back(std::to_string(each));
            }
            auto values = quern_test::made_of<owned>(data);
            try {
                quern::sort_by_key(quern::par, keys, values, quern_test::failing_less(calls));
                EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
            } catch (const std::runtime_error&) {
            }
            EXPECT_EQ(sorted(quern_test::values_of(values)), sorted(data));
            for (std::size_t i = 0; i < keys.size(); ++i) {
                ASSERT_EQ(std::to_string(values[i].value()), keys[i]);
            }
        }
    });
}

TEST(sorting_from_outside, runs_on_the_default_runtime) {
    const numbers data = quern_test::numbers(quern_test::k_long);
    numbers x = data;
    quern::sort(quern::par, x);
    EXPECT_EQ(x, sorted(data));
    x = data;
    quern::stable_sort(quern::par(quern::as_future), x).get();
    EXPECT_EQ(x, sorted(data));
}

}  // namespace
