// SPDX-License-Identifier: BSL-1.0
// The algorithms that write what they choose of ranges in order, and those that construct, over
// texts that are made when they are read, bits, zipped elements, elements that can only be moved
// or have a large alignment: the standard's result over numbers.
#include <quern/algorithms/merge.hpp>
#include <quern/algorithms/partial_sort.hpp>
#include <quern/algorithms/set_operations.hpp>
#include <quern/algorithms/uninitialized.hpp>

#include "unit/algorithms/elements.hpp"

#include <algorithm>
#include <memory>

namespace {

using namespace quern_test;

class merging_elements : public over_elements {
protected:
    /// ours(policy, first, middle, middle, last, out) over two sorted parts of a range.
    template <class ToCopy, class Ours, class Standard>
    void expect_same_merge(Ours ours, Standard standard) {
        compare(ToCopy::k_values, [&](auto policy, ints data) {
            const auto middle = static_cast<std::ptrdiff_t>(data.size() / 3);
            std::sort(data.begin(), data.begin() + middle);
            std::sort(data.begin() + middle, data.end());
            ints expected;
            standard(data.begin(), data.begin() + middle, data.begin() + middle, data.end(),
                     std::back_inserter(expected), std::less<>());
            ToCopy x(data);
            const auto first = x.begin();
            const auto between = first + middle;
            const auto end = ours(policy, first, between, between, x.end(), x.out.begin());
            EXPECT_TRUE(expected == numbers_of(x.out.begin(), end)) << data.size() << " elements";
        });
    }

    template <class Ours, class Standard>
    void expect_as_standard(Ours ours, Standard standard) {
        expect_same_merge<texts_to_copy>(ours, standard);
        expect_same_merge<singles_to_move>(ours, standard);
        expect_same_merge<elements_to_copy<wides>>(ours, standard);
        expect_same_merge<elements_to_copy<bits>>(ours, standard);
        expect_same_merge<elements_to_copy<zips>>(ours, standard);
    }
};
QUERN_ON_1_2_8_WORKERS(merging_elements);

TEST_P(merging_elements, merge) {
    expect_as_standard(
        [](auto policy, auto i, auto last, auto j, auto last2, auto out) {
            return quern::merge(policy, i, last, j, last2, out, is_less());
        },
        [](auto... all) { return std::merge(all...); });
}

TEST_P(merging_elements, set_union) {
    expect_as_standard(
        [](auto policy, auto i, auto last, auto j, auto last2, auto out) {
            return quern::set_union(policy, i, last, j, last2, out, is_less());
        },
        [](auto... all) { return std::set_union(all...); });
}

TEST_P(merging_elements, set_intersection) {
    expect_as_standard(
        [](auto policy, auto i, auto last, auto j, auto last2, auto out) {
            return quern::set_intersection(policy, i, last, j, last2, out, is_less());
        },
        [](auto... all) { return std::set_intersection(all...); });
}

TEST_P(merging_elements, set_difference) {
    expect_as_standard(
        [](auto policy, auto i, auto last, auto j, auto last2, auto out) {
            return quern::set_difference(policy, i, last, j, last2, out, is_less());
        },
        [](auto... all) { return std::set_difference(all...); });
}

TEST_P(merging_elements, set_symmetric_difference) {
    expect_as_standard(
        [](auto policy, auto i, auto last, auto j, auto last2, auto out) {
            return quern::set_symmetric_difference(policy, i, last, j, last2, out, is_less());
        },
        [](auto... all) { return std::set_symmetric_difference(all...); });
}

TEST_P(merging_elements, partial_sort_copy) {
    for (const std::ptrdiff_t part : {1, 2, 1'000}) {
        expect_copies_as_standard(
            [part](auto policy, auto first, auto last, auto out) {
                const auto n = static_cast<std::ptrdiff_t>(last - first);
                return quern::partial_sort_copy(policy, first, last, out, out + n / part,
                                                is_less());
            },
            [part](auto first, auto last, auto out) {
                return std::partial_sort_copy(first, last, out, out + (last - first) / part);
            });
    }
}

/// Raw memory for n elements. They are destroyed by the program.
template <class T>
class raw {
public:
    explicit raw(std::size_t n) : m_begin(std::allocator<T>().allocate(n)), m_n(n) {}
    raw(const raw&) = delete;
    raw& operator=(const raw&) = delete;
    ~raw() { std::allocator<T>().deallocate(m_begin, m_n); }

    T* begin() const { return m_begin; }
    T* end() const { return m_begin + m_n; }

private:
    T* m_begin;
    std::size_t m_n;
};

TEST_P(merging_elements, uninitialized_copy_of_temporaries) {
    compare(5'000, [](auto policy, const ints& data) {
        const auto made = texts(data);
        const raw<std::string> to(data.size());
        EXPECT_EQ(to.end(),
                  quern::uninitialized_copy(policy, made.begin(), made.end(), to.begin()));
        EXPECT_TRUE(data == numbers_of(to.begin(), to.end()));
        quern::destroy(policy, to.begin(), to.end());
        quern::uninitialized_copy_n(policy, made.begin(), data.size(), to.begin());
        EXPECT_TRUE(data == numbers_of(to.begin(), to.end()));
        EXPECT_EQ(to.end(), quern::destroy_n(policy, to.begin(), data.size()));
        quern::uninitialized_move(policy, made.begin(), made.end(), to.begin());
        EXPECT_TRUE(data == numbers_of(to.begin(), to.end()));
        quern::destroy(policy, to.begin(), to.end());
    });
}

TEST_P(merging_elements, uninitialized_move_of_elements_that_can_only_be_moved) {
    compare(5'000, [](auto policy, const ints& data) {
        singles x(data);
        const raw<single> to(data.size());
        EXPECT_EQ(to.end(), quern::uninitialized_move(policy, x.begin(), x.end(), to.begin()));
        EXPECT_TRUE(data == numbers_of(to.begin(), to.end()));
        const raw<single> again(data.size());
        quern::uninitialized_move_n(policy, to.begin(), data.size(), again.begin());
        EXPECT_TRUE(data == numbers_of(again.begin(), again.end()));
        quern::uninitialized_value_construct(policy, to.begin(), to.end());
        quern::uninitialized_value_construct_n(policy, again.begin(), data.size());
        const ints zeros(data.size(), 0);
        EXPECT_TRUE(zeros == numbers_of(to.begin(), to.end()));
        EXPECT_TRUE(zeros == numbers_of(again.begin(), again.end()));
    });
}

TEST_P(merging_elements, uninitialized_fill_and_default_construct) {
    compare(5'000, [](auto policy, const ints& data) {
        const raw<wide> to(data.size());
        const ints sevens(data.size(), 7);
        const ints eights(data.size(), 8);
        quern::uninitialized_default_construct(policy, to.begin(), to.end());
        quern::uninitialized_fill(policy, to.begin(), to.end(), wide(7));
        EXPECT_TRUE(sevens == numbers_of(to.begin(), to.end()));
        quern::uninitialized_default_construct_n(policy, to.begin(), data.size());
        quern::uninitialized_fill_n(policy, to.begin(), data.size(), wide(8));
        EXPECT_TRUE(eights == numbers_of(to.begin(), to.end()));
    });
}

}  // namespace
