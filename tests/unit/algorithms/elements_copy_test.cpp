// SPDX-License-Identifier: BSL-1.0
// The algorithms that write a copy or values, over texts that are made when they are read, bits,
// zipped elements, and elements that can only be moved: the standard's result over numbers.
#include <quern/algorithms/copy.hpp>
#include <quern/algorithms/fill.hpp>
#include <quern/algorithms/partition.hpp>
#include <quern/algorithms/remove.hpp>
#include <quern/algorithms/replace.hpp>
#include <quern/algorithms/reverse.hpp>
#include <quern/algorithms/transform.hpp>

#include "unit/algorithms/elements.hpp"

#include <algorithm>

namespace {

using namespace quern_test;

class copying_elements : public over_elements {};
QUERN_ON_1_2_8_WORKERS(copying_elements);

TEST_P(copying_elements, copy_copy_n_and_move) {
    const auto standard = [](auto first, auto last, auto out) {
        return std::copy(first, last, out);
    };
    expect_copies_as_standard([](auto policy, auto first, auto last,
                                 auto out) { return quern::copy(policy, first, last, out); },
                              standard);
    expect_copies_as_standard(
        [](auto policy, auto first, auto last, auto out) {
            return quern::copy_n(policy, first, static_cast<std::ptrdiff_t>(last - first), out);
        },
        standard);
    expect_copies_as_standard([](auto policy, auto first, auto last,
                                 auto out) { return quern::move(policy, first, last, out); },
                              standard);
}

TEST_P(copying_elements, move_leaves_moved_elements) {
    compare(zips::k_values, [](auto policy, const ints& data) {
        elements_to_copy<zips> x(data);
        quern::move(policy, x.begin(), x.end(), x.out.begin());
        for (const std::string& each : x.source.text) {
            ASSERT_TRUE(each.empty());
        }
    });
}

TEST_P(copying_elements, copy_if_and_remove_copy_if) {
    expect_copies_as_standard(
        [](auto policy, auto first, auto last, auto out) {
            return quern::copy_if(policy, first, last, out, is_odd());
        },
        [](auto first, auto last, auto out) { return std::copy_if(first, last, out, odd); });
    expect_copies_as_standard(
        [](auto policy, auto first, auto last, auto out) {
            return quern::remove_copy_if(policy, first, last, out, is_odd());
        },
        [](auto first, auto last, auto out) { return std::remove_copy_if(first, last, out, odd); });
}

TEST_P(copying_elements, remove_copy_and_replace_copy) {
    const auto removed = [](auto first, auto last, auto out) {
        return std::remove_copy(first, last, out, 1);
    };
    const auto replaced = [](auto first, auto last, auto out) {
        return std::replace_copy(first, last, out, 1, 0);
    };
    expect_same_copy<texts_to_copy>(
        [](auto policy, auto first, auto last, auto out) {
            return quern::remove_copy(policy, first, last, out, text_of(1));
        },
        removed);
    expect_same_copy<texts_to_copy>(
        [](auto policy, auto first, auto last, auto out) {
            return quern::replace_copy(policy, first, last, out, text_of(1), text_of(0));
        },
        replaced);
    expect_same_copy<elements_to_copy<bits>>(
        [](auto policy, auto first, auto last, auto out) {
            return quern::replace_copy(policy, first, last, out, true, false);
        },
        replaced);
    expect_same_copy<singles_to_move>(
        [](auto policy, auto first, auto last, auto out) {
            return quern::remove_copy(policy, first, last, out, single(1));
        },
        removed);
    expect_same_copy<elements_to_copy<zips>>(
        [](auto policy, auto first, auto last, auto out) {
            return quern::remove_copy(policy, first, last, out, zipped{1, text_of(1)});
        },
        removed);
}

TEST_P(copying_elements, replace_copy_if) {
    const auto standard = [](auto first, auto last, auto out) {
        return std::replace_copy_if(first, last, out, odd, 0);
    };
    expect_same_copy<texts_to_copy>(
        [](auto policy, auto first, auto last, auto out) {
            return quern::replace_copy_if(policy, first, last, out, is_odd(), text_of(0));
        },
        standard);
    expect_same_copy<elements_to_copy<bits>>(
        [](auto policy, auto first, auto last, auto out) {
            return quern::replace_copy_if(policy, first, last, out, is_odd(), false);
        },
        standard);
}

TEST_P(copying_elements, unique_copy) {
    expect_copies_as_standard(
        [](auto policy, auto first, auto last, auto out) {
            return quern::unique_copy(policy, first, last, out, is_same());
        },
        [](auto first, auto last, auto out) { return std::unique_copy(first, last, out); });
}

TEST_P(copying_elements, reverse_copy_and_rotate_copy) {
    const auto ours = [](auto policy, auto first, auto last, auto out) {
        const auto end = quern::reverse_copy(policy, first, last, out);
        return quern::rotate_copy(policy, first, first + (last - first) / 3, last, end);
    };
    const auto standard = [](auto first, auto last, auto out) {
        const auto end = std::reverse_copy(first, last, out);
        return std::rotate_copy(first, first + (last - first) / 3, last, end);
    };
    expect_same_copy<texts_to_copy>(ours, standard);
    expect_same_copy<elements_to_copy<wides>>(ours, standard);
    expect_same_copy<elements_to_copy<bits>>(ours, standard);
    expect_same_copy<elements_to_copy<zips>>(ours, standard);
}

TEST_P(copying_elements, partition_copy) {
    expect_copies_as_standard(
        [](auto policy, auto first, auto last, auto out) {
            const auto behind = out + static_cast<std::ptrdiff_t>(last - first);
            const auto [end, end2] =
                quern::partition_copy(policy, first, last, out, behind, is_odd());
            EXPECT_EQ(last - first, end2 - behind + (end - out));
            return std::move(behind, end2, end);
        },
        [](auto first, auto last, auto out) {
            ints others(static_cast<std::size_t>(last - first));
            const auto ends = std::partition_copy(first, last, out, others.begin(), odd);
            return std::copy(others.begin(), ends.second, ends.first);
        });
}

/// Hands on what it is given.
struct hand_on : move_only {
    auto&& operator()(auto&& e) const { return std::forward<decltype(e)>(e); }
    auto&& operator()(auto&& e, auto&&) const { return std::forward<decltype(e)>(e); }
};

TEST_P(copying_elements, transform) {
    const auto standard = [](auto first, auto last, auto out) {
        return std::copy(first, last, out);
    };
    expect_copies_as_standard(
        [](auto policy, auto first, auto last, auto out) {
            return quern::transform(policy, first, last, out, hand_on());
        },
        standard);
    expect_copies_as_standard(
        [](auto policy, auto first, auto last, auto out) {
            const auto indices = std::views::iota(std::size_t{0});
            return quern::transform(policy, first, last, indices.begin(), out, hand_on());
        },
        standard);
}

TEST_P(copying_elements, fill_generate_and_replace) {
    compare(2, [](auto policy, const ints& data) {
        const auto n = static_cast<std::ptrdiff_t>(data.size());
        const ints ones(data.size(), 1);
        const ints zeros(data.size(), 0);
        bits flags(data);
        zips pairs(data);
        const zipped one{1, text_of(1)};
        quern::fill(policy, flags.begin(), flags.end(), true);
        quern::fill(policy, pairs.begin(), pairs.end(), one);
        EXPECT_TRUE(ones == numbers_of(flags.begin(), flags.end()));
        EXPECT_TRUE(ones == numbers_of(pairs.begin(), pairs.end()));
        quern::replace(policy, flags.begin(), flags.end(), true, false);
        quern::replace(policy, pairs.begin(), pairs.end(), one, zipped());
        EXPECT_TRUE(zeros == numbers_of(flags.begin(), flags.end()));
        EXPECT_TRUE(zeros == numbers_of(pairs.begin(), pairs.end()));
        EXPECT_TRUE(flags.end() == quern::fill_n(policy, flags.begin(), n, true));
        EXPECT_TRUE(pairs.end() == quern::fill_n(policy, pairs.begin(), n, one));
        quern::replace_if(policy, flags.begin(), flags.end(), is_odd(), false);
        quern::replace_if(policy, pairs.begin(), pairs.end(), is_odd(), zipped());
        EXPECT_TRUE(zeros == numbers_of(flags.begin(), flags.end()));
        EXPECT_TRUE(zeros == numbers_of(pairs.begin(), pairs.end()));
    });
}

struct make_single : move_only {
    single operator()() const { return single(7); }
};

TEST_P(copying_elements, generate_elements_that_can_only_be_moved) {
    compare(2, [](auto policy, const ints& data) {
        singles x(data);
        const ints expected(data.size(), 7);
        quern::generate(policy, x.begin(), x.end(), make_single());
        EXPECT_TRUE(expected == numbers_of(x.begin(), x.end()));
        singles y(data);
        EXPECT_TRUE(y.end() == quern::generate_n(policy, y.begin(), data.size(), make_single()));
        EXPECT_TRUE(expected == numbers_of(y.begin(), y.end()));
    });
}

}  // namespace
