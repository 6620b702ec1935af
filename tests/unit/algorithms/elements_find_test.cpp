// SPDX-License-Identifier: BSL-1.0
// The algorithms that read elements and return a place, a number or whether something holds, over
// texts that are made when they are read, bits, zipped elements, and elements and values that can
// only be moved: the standard's result over numbers.
#include <quern/algorithms/compare.hpp>
#include <quern/algorithms/count.hpp>
#include <quern/algorithms/find.hpp>
#include <quern/algorithms/for_each.hpp>
#include <quern/algorithms/is_sorted.hpp>
#include <quern/algorithms/minmax.hpp>
#include <quern/algorithms/search.hpp>
#include <quern/algorithms/set_operations.hpp>

#include "unit/algorithms/elements.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>

namespace {

using namespace quern_test;

class reading_elements : public over_elements {
protected:
    /// ours(policy, elements) and standard(numbers) return the same number.
    template <class Elements, class Ours, class Standard>
    void expect_same(Ours ours, Standard standard) {
        compare(Elements::k_values, [&](auto policy, const ints& data) {
            Elements x(data);
            EXPECT_EQ(static_cast<long>(standard(data)), static_cast<long>(ours(policy, x)))
                << data.size() << " elements";
        });
    }

    template <class Ours, class Standard>
    void expect_as_standard(Ours ours, Standard standard) {
        expect_same<made_texts>(ours, standard);
        expect_same<singles>(ours, standard);
        expect_same<bits>(ours, standard);
        expect_same<zips>(ours, standard);
    }

    /// texts() as a class of elements.
    struct made_texts {
        static constexpr int k_values = 5'000;

        explicit made_texts(const ints& from) : all(texts(from)) {}
        auto begin() { return all.begin(); }
        auto end() { return all.end(); }

        decltype(texts(std::declval<const ints&>())) all;
    };
};
QUERN_ON_1_2_8_WORKERS(reading_elements);

/// True for a rare number, and for a bit that is set.
struct is_searched : move_only {
    bool operator()(const auto& e) const { return number_of(e) % 1'000 == 1; }
};
bool searched(int n) { return n % 1'000 == 1; }

struct add_to : move_only {
    std::atomic<long>* total = nullptr;
    void operator()(const auto& e) const { *total += number_of(e); }
};

TEST_P(reading_elements, for_each_calls_once_per_element) {
    const auto sum = [](const ints& data) { return std::accumulate(data.begin(), data.end(), 0L); };
    expect_as_standard(
        [](auto policy, auto& x) {
            std::atomic<long> total{0};
            quern::for_each(policy, x.begin(), x.end(),
                            [&total](auto&& e) { total += number_of(e); });
            return total.load();
        },
        sum);
    expect_as_standard(
        [](auto policy, auto& x) {
            std::atomic<long> total{0};
            add_to f;
            f.total = &total;
            const auto n = static_cast<std::ptrdiff_t>(x.end() - x.begin());
            const auto end = quern::for_each_n(policy, x.begin(), n, std::move(f));
            return end == x.end() ? total.load() : -1;
        },
        sum);
}

TEST_P(reading_elements, count_if_and_the_predicates) {
    expect_as_standard(
        [](auto policy, auto& x) { return quern::count_if(policy, x.begin(), x.end(), is_odd()); },
        [](const ints& data) { return std::count_if(data.begin(), data.end(), odd); });
    expect_as_standard(
        [](auto policy, auto& x) {
            return (quern::any_of(policy, x.begin(), x.end(), is_searched()) ? 1 : 0) +
                   (quern::none_of(policy, x.begin(), x.end(), is_searched()) ? 2 : 0) +
                   (quern::all_of(policy, x.begin(), x.end(), is_odd()) ? 4 : 0) +
                   (quern::is_partitioned(policy, x.begin(), x.end(), is_odd()) ? 8 : 0);
        },
        [](const ints& data) {
            return (std::any_of(data.begin(), data.end(), searched) ? 1 : 2) +
                   (std::all_of(data.begin(), data.end(), odd) ? 4 : 0) +
                   (std::is_partitioned(data.begin(), data.end(), odd) ? 8 : 0);
        });
}

TEST_P(reading_elements, find_and_count_a_value) {
    const auto place = [](const ints& data) {
        return std::find(data.begin(), data.end(), 1) - data.begin();
    };
    const auto number = [](const ints& data) { return std::count(data.begin(), data.end(), 1); };
    const single one(1);
    expect_same<singles>(
        [&](auto policy, auto& x) {
            return quern::find(policy, x.begin(), x.end(), one) - x.begin();
        },
        place);
    expect_same<singles>(
        [&](auto policy, auto& x) { return quern::count(policy, x.begin(), x.end(), one); },
        number);
    expect_same<made_texts>(
        [](auto policy, auto& x) {
            return quern::find(policy, x.begin(), x.end(), "000000000000000000000001") - x.begin();
        },
        place);
    expect_same<made_texts>(
        [](auto policy, auto& x) { return quern::count(policy, x.begin(), x.end(), text_of(1)); },
        number);
    expect_same<bits>(
        [](auto policy, auto& x) {
            return quern::find(policy, x.begin(), x.end(), true) - x.begin();
        },
        place);
    expect_same<bits>(
        [](auto policy, auto& x) { return quern::count(policy, x.begin(), x.end(), true); },
        number);
    expect_same<zips>(
        [](auto policy, auto& x) {
            return quern::count(policy, x.begin(), x.end(), zipped{1, text_of(1)});
        },
        number);
}

TEST_P(reading_elements, find_if_and_find_if_not) {
    expect_as_standard(
        [](auto policy, auto& x) {
            return (quern::find_if(policy, x.begin(), x.end(), is_searched()) - x.begin()) * 2 +
                   (quern::find_if_not(policy, x.begin(), x.end(), is_odd()) - x.begin());
        },
        [](const ints& data) {
            return (std::find_if(data.begin(), data.end(), searched) - data.begin()) * 2 +
                   (std::find_if_not(data.begin(), data.end(), odd) - data.begin());
        });
}

TEST_P(reading_elements, find_first_of_and_adjacent_find) {
    const ints wanted{1, 3'777};
    expect_as_standard(
        [&](auto policy, auto& x) {
            const auto made = texts(wanted);
            return quern::find_first_of(policy, x.begin(), x.end(), made.begin(), made.end(),
                                        is_same()) -
                   x.begin();
        },
        [&](const ints& data) {
            return std::find_first_of(data.begin(), data.end(), wanted.begin(), wanted.end()) -
                   data.begin();
        });
    expect_as_standard(
        [](auto policy, auto& x) {
            return quern::adjacent_find(policy, x.begin(), x.end(), is_same()) - x.begin();
        },
        [](const ints& data) {
            return std::adjacent_find(data.begin(), data.end()) - data.begin();
        });
}

TEST_P(reading_elements, search_and_find_end) {
    // Two elements that follow each other somewhere.
    const auto wanted_of = [](const ints& data) {
        const auto middle = data.begin() + static_cast<std::ptrdiff_t>(data.size() / 2);
        return data.size() < 4 ? data : ints(middle, middle + 2);
    };
    ints numbers;
    const auto remember = [&](auto& x) { numbers = numbers_of(x.begin(), x.end()); };
    expect_as_standard(
        [&](auto policy, auto& x) {
            remember(x);
            const ints wanted = wanted_of(numbers);
            const auto made = texts(wanted);
            return quern::search(policy, x.begin(), x.end(), made.begin(), made.end(), is_same()) -
                   x.begin();
        },
        [&](const ints& data) {
            const ints wanted = wanted_of(data);
            return std::search(data.begin(), data.end(), wanted.begin(), wanted.end()) -
                   data.begin();
        });
    expect_as_standard(
        [&](auto policy, auto& x) {
            remember(x);
            const ints wanted = wanted_of(numbers);
            const auto made = texts(wanted);
            return quern::find_end(policy, x.begin(), x.end(), made.begin(), made.end(),
                                   is_same()) -
                   x.begin();
        },
        [&](const ints& data) {
            const ints wanted = wanted_of(data);
            return std::find_end(data.begin(), data.end(), wanted.begin(), wanted.end()) -
                   data.begin();
        });
}

TEST_P(reading_elements, search_n) {
    const single one(1);
    expect_as_standard(
        [&](auto policy, auto& x) {
            return quern::search_n(policy, x.begin(), x.end(), 2, one, is_same()) - x.begin();
        },
        [](const ints& data) {
            return std::search_n(data.begin(), data.end(), 2, 1) - data.begin();
        });
}

TEST_P(reading_elements, min_max_and_minmax_element) {
    expect_as_standard(
        [](auto policy, auto& x) {
            const auto both = quern::minmax_element(policy, x.begin(), x.end(), is_less());
            return (quern::min_element(policy, x.begin(), x.end(), is_less()) - x.begin()) * 2 +
                   (quern::max_element(policy, x.begin(), x.end(), is_less()) - x.begin()) * 3 +
                   (both.first - x.begin()) * 5 + (both.second - x.begin()) * 7;
        },
        [](const ints& data) {
            const auto both = std::minmax_element(data.begin(), data.end());
            return (std::min_element(data.begin(), data.end()) - data.begin()) * 2 +
                   (std::max_element(data.begin(), data.end()) - data.begin()) * 3 +
                   (both.first - data.begin()) * 5 + (both.second - data.begin()) * 7;
        });
    expect_same<bits>(
        [](auto policy, auto& x) {
            return quern::max_element(policy, x.begin(), x.end()) - x.begin();
        },
        [](const ints& data) { return std::max_element(data.begin(), data.end()) - data.begin(); });
}

TEST_P(reading_elements, min_element_of_indices) {
    inside([] {
        const auto from = std::views::iota(std::size_t{0}, std::size_t{20'000});
        const auto least = quern::min_element(quern::par, from, std::greater<>());
        EXPECT_EQ(19'999U, *least);
        EXPECT_EQ(0U, *quern::min_element(quern::par, from));
    });
}

TEST_P(reading_elements, is_sorted_and_is_heap) {
    expect_as_standard(
        [](auto policy, auto& x) {
            const bool is_sorted = quern::is_sorted(policy, x.begin(), x.end(), is_less());
            const bool is_heap = quern::is_heap(policy, x.begin(), x.end(), is_less());
            return (is_sorted ? 1 : 0) + (is_heap ? 2 : 0) +
                   4 * (quern::is_sorted_until(policy, x.begin(), x.end(), is_less()) - x.begin()) +
                   6 * (quern::is_heap_until(policy, x.begin(), x.end(), is_less()) - x.begin());
        },
        [](const ints& data) {
            return (std::is_sorted(data.begin(), data.end()) ? 1 : 0) +
                   (std::is_heap(data.begin(), data.end()) ? 2 : 0) +
                   4 * (std::is_sorted_until(data.begin(), data.end()) - data.begin()) +
                   6 * (std::is_heap_until(data.begin(), data.end()) - data.begin());
        });
}

TEST_P(reading_elements, mismatch_equal_and_lexicographical_compare) {
    expect_as_standard(
        [](auto policy, auto& x) {
            ints numbers = numbers_of(x.begin(), x.end());
            const bool is_equal =
                quern::equal(policy, x.begin(), x.end(), numbers.begin(), is_same());
            numbers.push_back(3);
            numbers[numbers.size() / 2] += 1;
            const auto made = texts(numbers);
            const auto [i, j] =
                quern::mismatch(policy, x.begin(), x.end(), made.begin(), made.end(), is_same());
            const auto k =
                quern::mismatch(policy, x.begin(), x.end(), made.begin(), is_same()).first;
            const bool is_less = quern::lexicographical_compare(
                policy, x.begin(), x.end(), made.begin(), made.end(), quern_test::is_less());
            const bool is_same_length = quern::equal(policy, x.begin(), x.end(), made.begin(),
                                                     made.end(), quern_test::is_same());
            const bool is_first = i - x.begin() == j - made.begin() && k == i;
            return is_equal && is_less && is_first && !is_same_length ? i - x.begin() : -1;
        },
        [](const ints& data) { return (data.size() + 1) / 2; });
}

TEST_P(reading_elements, includes) {
    expect_as_standard(
        [](auto policy, auto& x) {
            ints numbers = numbers_of(x.begin(), x.end());
            std::sort(numbers.begin(), numbers.end());
            const auto made = texts(numbers);
            ints few;
            for (std::size_t i = 0; i < numbers.size(); i += 3) {
                few.push_back(numbers[i]);
            }
            const wides some(few);
            const bool has_all = quern::includes(policy, made.begin(), made.end(), some.all.begin(),
                                                 some.all.end(), is_less());
            numbers.push_back(10'000);
            const auto more = texts(numbers);
            const bool has_more = quern::includes(policy, more.begin(), more.begin() + 1,
                                                  more.begin(), more.end(), is_less());
            return has_all && (!has_more || numbers.size() == 1);
        },
        [](const ints&) { return true; });
}

}  // namespace
