// SPDX-License-Identifier: BSL-1.0
// when_some: how many and which; failed, late and invalid futures.
#include <quern/task/async.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/when.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <algorithm>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace {

using quern::async;
using quern::future;
using quern::make_ready_future;
using quern::promise;
using quern::shared_future;
using quern::when_some;
using quern_test::scaled;

class when_some_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(when_some_test);

// Holds: when_some: Ready when `count` of them are.
// Holds: when_some: The value holds all futures, and the indices of those in the order in which
//     they became ready.
TEST_P(when_some_test, names_them_in_the_order_of_their_arrival) {
    promise<int> a, c;
    promise<std::string> b;
    auto some = when_some(2, a.get_future(), b.get_future(), c.get_future());
    c.set_value(3);
    EXPECT_FALSE(some.is_ready());
    b.set_value("two");
    ASSERT_TRUE(some.is_ready());
    auto result = some.get();
    EXPECT_EQ(result.indices, (std::vector<std::size_t>{2, 1}));
    EXPECT_EQ(std::get<1>(result.futures).get(), "two");
    EXPECT_FALSE(std::get<0>(result.futures).is_ready());
    a.set_value(1);
    EXPECT_EQ(std::get<0>(result.futures).get(), 1);
}

// Holds: when_some: A count of none is ready at once; a count of all is when_all.
TEST_P(when_some_test, none_is_ready_at_once_and_all_is_when_all) {
    promise<int> a, b;
    auto none = when_some(0, a.get_future());
    ASSERT_TRUE(none.is_ready());
    EXPECT_TRUE(none.get().indices.empty());
    EXPECT_TRUE(when_some(0).get().indices.empty());
    EXPECT_TRUE(when_some(0, std::vector<future<int>>{}).is_ready());
    auto both = when_some(2, b.get_future(), make_ready_future(1));
    EXPECT_FALSE(both.is_ready());
    b.set_value(2);
    EXPECT_EQ(both.get().indices, (std::vector<std::size_t>{1, 0}));
    a.set_value(0);
}

// Holds: when_some: when_some takes a tuple, a vector, or a range.
TEST_P(when_some_test, of_a_vector_or_range) {
    inside([] {
        std::vector<future<std::size_t>> futures;
        for (std::size_t i = 0; i < 20; ++i) {
            futures.push_back(async([i] { return i; }));
        }
        auto result = when_some(7, std::move(futures)).get();
        ASSERT_EQ(result.indices.size(), 7U);
        ASSERT_EQ(result.futures.size(), 20U);
        for (const std::size_t i : result.indices) {
            ASSERT_TRUE(result.futures[i].is_ready());
            ASSERT_EQ(result.futures[i].get(), i);
        }
        std::sort(result.indices.begin(), result.indices.end());
        EXPECT_EQ(std::unique(result.indices.begin(), result.indices.end()), result.indices.end());
        std::list<shared_future<int>> shared{make_ready_future(1).share(),
                                             make_ready_future(2).share()};
        EXPECT_EQ(when_some(1, shared.begin(), shared.end()).get().indices.size(), 1U);
        EXPECT_TRUE(shared.front().valid());
    });
}

// Holds: when_some: An exception stays in the future that holds it, which counts as ready.
TEST_P(when_some_test, counts_a_failure_as_ready) {
    promise<int> never;
    auto result = when_some(1, never.get_future(),
                            quern::make_exceptional_future<int>(
                                std::make_exception_ptr(std::runtime_error("task"))))
                      .get();
    EXPECT_EQ(result.indices, std::vector<std::size_t>{1});
    EXPECT_THROW(std::get<1>(result.futures).get(), std::runtime_error);
    never.set_value(0);
}

// Holds: when_some: More than there are futures: std::invalid_argument.
TEST_P(when_some_test, refuses_more_than_there_are_and_invalid_futures) {
    EXPECT_THROW((void)when_some(2, make_ready_future(1)), std::invalid_argument);
    EXPECT_THROW((void)when_some(1, std::vector<future<int>>{}), std::invalid_argument);
    EXPECT_THROW((void)when_some(1, future<int>()), std::future_error);
}

// Holds: when_some: Late ones arrive in the futures given back, which may be dropped before.
TEST_P(when_some_test, may_end_before_the_late_ones) {
    auto witness = std::make_shared<int>(0);
    {
        promise<std::shared_ptr<int>> late;
        (void)when_some(1, make_ready_future(witness), late.get_future()).get();
        late.set_value(witness);
    }
    EXPECT_EQ(witness.use_count(), 1);
}

// Holds: when_some: No future that becomes ready meanwhile is lost.
TEST_P(when_some_test, futures_that_become_ready_meanwhile_are_not_lost) {
    inside([] {
        for (int round = 0; round < scaled(300, 50); ++round) {
            std::vector<future<int>> futures;
            for (int i = 0; i < 10; ++i) {
                futures.push_back(async([i] { return i; }));
            }
            auto result = when_some(5, std::move(futures)).get();
            for (const std::size_t i : result.indices) {
                ASSERT_TRUE(result.futures[i].is_ready());
            }
            for (auto& f : result.futures) {
                f.wait();
            }
        }
    });
}

}  // namespace
