// SPDX-License-Identifier: BSL-1.0
// The algorithms that move the elements of a range, over bits, zipped elements, and elements that
// can only be moved or have a large alignment: the standard's result over numbers, no element lost.
#include <quern/algorithms/merge.hpp>
#include <quern/algorithms/partial_sort.hpp>
#include <quern/algorithms/partition.hpp>
#include <quern/algorithms/remove.hpp>
#include <quern/algorithms/reverse.hpp>
#include <quern/algorithms/sort.hpp>

#include "unit/algorithms/elements.hpp"

#include <algorithm>
#include <list>

namespace {

using namespace quern_test;

/// What the standard does not leave open of a result, of which `end` is the returned place.
void whole(ints&, std::size_t) {}
void front(ints& result, std::size_t end) { result.resize(end); }
void front_and_rest(ints& result, std::size_t end) {
    std::sort(result.begin() + static_cast<std::ptrdiff_t>(end), result.end());
}
void both_sides(ints& result, std::size_t end) {
    std::sort(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(end));
    front_and_rest(result, end);
}

class moving_elements : public over_elements {
protected:
    using part = void (*)(ints& result, std::size_t end);

    /// ours(policy, first, middle, last) and standard(first, middle, last) return a place each.
    template <class Elements, class Ours, class Standard>
    void expect_same(part compared, Ours ours, Standard standard) {
        compare(Elements::k_values, [&](auto policy, const ints& data) {
            const auto place = static_cast<std::ptrdiff_t>(data.size() / 3);
            ints expected = data;
            const auto end = standard(expected.begin(), expected.begin() + place, expected.end());
            const auto kept = static_cast<std::size_t>(end - expected.begin());
            compared(expected, kept);

            Elements x(data);
            const auto found = ours(policy, x.begin(), x.begin() + place, x.end());
            ASSERT_EQ(kept, static_cast<std::size_t>(found - x.begin()));
            ints result = numbers_of(x.begin(), compared == front ? found : x.end());
            compared(result, kept);
            EXPECT_TRUE(expected == result) << data.size() << " elements";
        });
    }

    template <class Ours, class Standard>
    void expect_as_standard(part compared, Ours ours, Standard standard) {
        expect_same<wides>(compared, ours, standard);
        expect_same<singles>(compared, ours, standard);
        expect_same<bits>(compared, ours, standard);
        expect_same<zips>(compared, ours, standard);
    }
};
QUERN_ON_1_2_8_WORKERS(moving_elements);

TEST_P(moving_elements, sort) {
    expect_as_standard(
        whole,
        [](auto policy, auto first, auto, auto last) {
            quern::sort(policy, first, last, is_less());
            return last;
        },
        [](auto first, auto, auto last) {
            std::sort(first, last);
            return last;
        });
}

TEST_P(moving_elements, stable_sort) {
    expect_as_standard(
        whole,
        [](auto policy, auto first, auto, auto last) {
            quern::stable_sort(policy, first, last, is_less());
            return last;
        },
        [](auto first, auto, auto last) {
            std::sort(first, last);
            return last;
        });
}

TEST_P(moving_elements, sort_by_key) {
    compare(singles::k_values, [](auto policy, const ints& data) {
        singles keys(data);
        wides values(data);
        zips more_keys(data);
        bits more_values(ints(data.size(), 1));
        quern::sort_by_key(policy, keys.begin(), keys.end(), values.begin(), is_less());
        quern::sort_by_key(policy, more_keys.begin(), more_keys.end(), more_values.begin(),
                           is_less());
        ints expected = data;
        std::sort(expected.begin(), expected.end());
        EXPECT_TRUE(expected == numbers_of(keys.begin(), keys.end()));
        EXPECT_TRUE(expected == numbers_of(values.begin(), values.end()));
        EXPECT_TRUE(expected == numbers_of(more_keys.begin(), more_keys.end()));
    });
}

TEST_P(moving_elements, nth_element) {
    expect_as_standard(
        both_sides,
        [](auto policy, auto first, auto nth, auto last) {
            quern::nth_element(policy, first, nth, last, is_less());
            return nth;
        },
        [](auto first, auto nth, auto last) {
            std::sort(first, last);
            return nth;
        });
}

TEST_P(moving_elements, partial_sort) {
    expect_as_standard(
        front_and_rest,
        [](auto policy, auto first, auto middle, auto last) {
            quern::partial_sort(policy, first, middle, last, is_less());
            return middle;
        },
        [](auto first, auto middle, auto last) {
            std::sort(first, last);
            return middle;
        });
}

TEST_P(moving_elements, partial_sort_of_a_few) {
    expect_as_standard(
        front_and_rest,
        [](auto policy, auto first, auto, auto last) {
            const auto middle = first + (last - first) / 1'000;
            quern::partial_sort(policy, first, middle, last, is_less());
            return middle;
        },
        [](auto first, auto, auto last) {
            std::sort(first, last);
            return first + (last - first) / 1'000;
        });
}

TEST_P(moving_elements, inplace_merge) {
    expect_as_standard(
        whole,
        [](auto policy, auto first, auto middle, auto last) {
            quern::sort(quern::seq, first, middle, is_less());
            quern::sort(quern::seq, middle, last, is_less());
            quern::inplace_merge(policy, first, middle, last, is_less());
            return last;
        },
        [](auto first, auto, auto last) {
            std::sort(first, last);
            return last;
        });
}

TEST_P(moving_elements, inplace_merge_of_a_list) {
    compare(wides::k_values, [](auto policy, const ints& data) {
        std::list<wide> x;
        for (const int each : data) {
            x.emplace_back(each);
        }
        const auto less = [](const wide& a, const wide& b) { return number_of(a) < number_of(b); };
        const auto middle = std::next(x.begin(), static_cast<std::ptrdiff_t>(data.size() / 3));
        std::list<wide> front;
        front.splice(front.begin(), x, x.begin(), middle);
        front.sort(less);
        x.sort(less);
        const auto place = x.begin();
        x.splice(place, front);
        quern::inplace_merge(policy, x.begin(), place, x.end(), is_less());
        ints expected = data;
        std::sort(expected.begin(), expected.end());
        EXPECT_TRUE(expected == numbers_of(x.begin(), x.end()));
    });
}

TEST_P(moving_elements, partition) {
    expect_as_standard(
        both_sides,
        [](auto policy, auto first, auto, auto last) {
            return quern::partition(policy, first, last, is_odd());
        },
        [](auto first, auto, auto last) { return std::partition(first, last, odd); });
}

TEST_P(moving_elements, stable_partition) {
    expect_as_standard(
        whole,
        [](auto policy, auto first, auto, auto last) {
            return quern::stable_partition(policy, first, last, is_odd());
        },
        [](auto first, auto, auto last) { return std::stable_partition(first, last, odd); });
}

TEST_P(moving_elements, stable_partition_of_a_list) {
    compare(wides::k_values, [](auto policy, const ints& data) {
        std::list<wide> x;
        for (const int each : data) {
            x.emplace_back(each);
        }
        quern::stable_partition(policy, x.begin(), x.end(), is_odd());
        ints expected = data;
        std::stable_partition(expected.begin(), expected.end(), odd);
        EXPECT_TRUE(expected == numbers_of(x.begin(), x.end()));
    });
}

TEST_P(moving_elements, remove_if) {
    expect_as_standard(
        front,
        [](auto policy, auto first, auto, auto last) {
            return quern::remove_if(policy, first, last, is_odd());
        },
        [](auto first, auto, auto last) { return std::remove_if(first, last, odd); });
}

TEST_P(moving_elements, remove) {
    const auto standard = [](auto first, auto, auto last) { return std::remove(first, last, 1); };
    expect_same<singles>(
        front,
        [](auto policy, auto first, auto, auto last) {
            return quern::remove(policy, first, last, single(1));
        },
        standard);
    expect_same<bits>(
        front,
        [](auto policy, auto first, auto, auto last) {
            return quern::remove(policy, first, last, true);
        },
        standard);
    expect_same<zips>(
        front,
        [](auto policy, auto first, auto, auto last) {
            return quern::remove(policy, first, last, zipped{1, text_of(1)});
        },
        standard);
}

TEST_P(moving_elements, unique) {
    expect_as_standard(
        front,
        [](auto policy, auto first, auto, auto last) {
            quern::sort(quern::seq, first, last, is_less());
            return quern::unique(policy, first, last, is_same());
        },
        [](auto first, auto, auto last) {
            std::sort(first, last);
            return std::unique(first, last);
        });
}

TEST_P(moving_elements, reverse) {
    expect_as_standard(
        whole,
        [](auto policy, auto first, auto, auto last) {
            quern::reverse(policy, first, last);
            return last;
        },
        [](auto first, auto, auto last) {
            std::reverse(first, last);
            return last;
        });
}

TEST_P(moving_elements, rotate) {
    expect_as_standard(
        whole,
        [](auto policy, auto first, auto middle, auto last) {
            return quern::rotate(policy, first, middle, last);
        },
        [](auto first, auto middle, auto last) { return std::rotate(first, middle, last); });
}

TEST_P(moving_elements, swap_ranges) {
    expect_as_standard(
        whole,
        [](auto policy, auto first, auto middle, auto last) {
            return quern::swap_ranges(policy, first, middle, last - (middle - first));
        },
        [](auto first, auto middle, auto last) {
            return std::swap_ranges(first, middle, last - (middle - first));
        });
}

}  // namespace
