// SPDX-License-Identifier: BSL-1.0
// when_all and when_any: of tuples, vectors, iterator ranges and nothing; ready, failed and late
// futures.
#include <quern/task/async.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/when.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <chrono>
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
using quern::when_all;
using quern::when_any;
using quern_test::scaled;

class when_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(when_test);

// Holds: when_all: Its value is the futures themselves, each ready, as a tuple.
TEST_P(when_test, all_of_a_tuple_gives_the_futures_themselves) {
    inside([] {
        shared_future<int> shared = async([] { return 3; }).share();
        auto all = when_all(async([] { return 1; }), async([] { return std::string("two"); }),
                            shared, async([] {}));
        auto [a, b, c, d] = all.get();
        static_assert(std::is_same_v<decltype(a), future<int>>);
        EXPECT_TRUE(a.is_ready() && b.is_ready() && c.is_ready() && d.is_ready());
        EXPECT_EQ(a.get(), 1);
        EXPECT_EQ(b.get(), "two");
        EXPECT_EQ(c.get(), 3);
        d.get();
        EXPECT_TRUE(shared.valid());
    });
}

// Holds: when_all: The value of when_all of a vector is the vector of its futures, each ready.
TEST_P(when_test, all_of_a_vector) {
    inside([] {
        for (const std::size_t n : {0U, 1U, 2U, 100U}) {
            std::vector<future<std::size_t>> futures;
            for (std::size_t i = 0; i < n; ++i) {
                futures.push_back(async([i] { return i; }));
            }
            auto ready = when_all(std::move(futures)).get();
            ASSERT_EQ(ready.size(), n);
            for (std::size_t i = 0; i < n; ++i) {
                ASSERT_TRUE(ready[i].is_ready());
                ASSERT_EQ(ready[i].get(), i);
            }
        }
    });
}

// Holds: when_all: The value of when_all of a range is its futures, each ready: futures are moved
//     away, shared futures copied.
TEST_P(when_test, all_of_a_range_moves_futures_and_copies_shared_ones) {
    inside([] {
        std::list<future<int>> unique;
        std::list<shared_future<int>> shared;
        for (int i = 0; i < 10; ++i) {
            unique.push_back(async([i] { return i; }));
            shared.push_back(async([i] { return i; }).share());
        }
        EXPECT_EQ(when_all(unique.begin(), unique.end()).get().size(), 10U);
        EXPECT_FALSE(unique.front().valid());
        EXPECT_EQ(when_all(shared.begin(), shared.end()).get().size(), 10U);
        EXPECT_TRUE(shared.front().valid());
    });
}

// Holds: when_all: when_all of nothing is ready at once.
TEST_P(when_test, all_of_nothing_is_ready_at_once) {
    EXPECT_TRUE(when_all().is_ready());
    EXPECT_TRUE(when_all(std::vector<future<int>>{}).is_ready());
    std::vector<future<void>> none;
    EXPECT_TRUE(when_all(none.begin(), none.end()).is_ready());
}

// Holds: when_all: An exception stays in the future that holds it.
TEST_P(when_test, all_leaves_exceptions_in_their_futures) {
    inside([] {
        auto all = when_all(async([]() -> int { throw std::runtime_error("task"); }),
                            async([] { return 1; }));
        all.wait();
        EXPECT_FALSE(all.has_exception());
        auto [failed, fine] = all.get();
        EXPECT_THROW(failed.get(), std::runtime_error);
        EXPECT_EQ(fine.get(), 1);
    });
}

// Holds: when_all: Ready when all are, and not before.
TEST_P(when_test, all_is_not_ready_before_the_last_one) {
    promise<int> a, b;
    auto all = when_all(a.get_future(), b.get_future());
    EXPECT_FALSE(all.is_ready());
    b.set_value(2);
    EXPECT_FALSE(all.is_ready());
    a.set_value(1);
    EXPECT_TRUE(all.is_ready());
    all.get();
}

// Holds: when_any: Ready when the first one is.
// Holds: when_any: The value holds all futures and the index of that one.
// Holds: when_any: The other futures arrive later in the futures given back, which may be dropped
//     before.
TEST_P(when_test, any_names_the_first_one) {
    promise<int> a, b, c;
    auto any = when_any(a.get_future(), b.get_future(), c.get_future());
    EXPECT_FALSE(any.is_ready());
    b.set_value(2);
    ASSERT_TRUE(any.is_ready());
    auto result = any.get();
    EXPECT_EQ(result.index, 1U);
    EXPECT_EQ(std::get<1>(result.futures).get(), 2);
    EXPECT_FALSE(std::get<0>(result.futures).is_ready());
    a.set_value(1);  // the others arrive later, in the returned futures
    c.set_value(3);
    EXPECT_EQ(std::get<0>(result.futures).get(), 1);
    EXPECT_EQ(std::get<2>(result.futures).get(), 3);
}

// Holds: when_any: Of futures that are ready when_any names one of them.
TEST_P(when_test, any_of_futures_that_are_ready_names_one_of_them) {
    auto result = when_any(make_ready_future(1), make_ready_future(2)).get();
    EXPECT_LT(result.index, 2U);
}

// Holds: when_any: The value holds all...
TEST_P(when_test, any_of_a_vector_or_range) {
    inside([] {
        promise<int> never;
        std::vector<future<int>> futures;
        futures.push_back(never.get_future());
        futures.push_back(async([] { return 1; }));
        auto result = when_any(std::move(futures)).get();
        EXPECT_EQ(result.index, 1U);
        EXPECT_EQ(result.futures[1].get(), 1);
        std::list<shared_future<int>> shared{make_ready_future(5).share()};
        auto of_range = when_any(shared.begin(), shared.end()).get();
        EXPECT_EQ(of_range.index, 0U);
        EXPECT_EQ(of_range.futures[0].get(), 5);
        never.set_value(0);
    });
}

// Holds: when_any: when_any of an empty sequence is ready at once, with the index k_none.
TEST_P(when_test, any_of_nothing_is_ready_and_names_none) {
    auto result = when_any(std::vector<future<int>>{}).get();
    EXPECT_EQ(result.index, quern::when_any_result<std::vector<future<int>>>::k_none);
    EXPECT_TRUE(result.futures.empty());
    EXPECT_EQ(when_any().get().index, quern::when_any_result<std::tuple<>>::k_none);
}

// Holds: when_any: An exception stays in its future, which counts as ready.
TEST_P(when_test, any_counts_a_failure_as_ready) {
    inside([] {
        promise<int> never;
        auto result =
            when_any(never.get_future(), async([]() -> int { throw std::runtime_error("task"); }))
                .get();
        EXPECT_EQ(result.index, 1U);
        EXPECT_THROW(std::get<1>(result.futures).get(), std::runtime_error);
        never.set_value(0);
    });
}

// Holds: when_any: The other futures arrive...
TEST_P(when_test, any_may_end_before_the_late_ones) {
    auto witness = std::make_shared<int>(0);
    {
        promise<std::shared_ptr<int>> late;
        (void)when_any(make_ready_future(witness), late.get_future()).get();
        late.set_value(witness);
    }
    EXPECT_EQ(witness.use_count(), 1);
}

// Holds: when_any: Its future may be dropped at any time, also while the futures become ready.
TEST_P(when_test, any_may_be_dropped_while_its_futures_become_ready) {
    inside([] {
        for (int round = 0; round < quern_test::scaled(1'000, 100); ++round) {
            promise<int> a, b;
            const auto first = a.get_future().share(), second = b.get_future().share();
            auto settles = async([&a, &b] {
                a.set_value(1);
                b.set_value(2);
            });
            {
                auto any = quern::when_any(first, second, first);
                if (round % 2 == 0) {
                    any.wait_for(std::chrono::seconds(0));
                }
            }
            settles.get();
            EXPECT_EQ(first.get() + second.get(), 3);
        }
    });
}

// Holds: when_any: Futures that were not ready may be waited for afterwards, and be destroyed.
TEST_P(when_test, any_leaves_the_others_as_they_were) {
    inside([] {
        promise<int> late;
        auto never = late.get_future().share();
        for (int i = 0; i < 3; ++i) {
            auto any = quern::when_any(never, quern::make_ready_future(i), never).get();
            EXPECT_EQ(any.index, 1U);
        }
        auto waiter = async([never] { return never.get(); });
        auto reaction = never.then([](auto ready) { return ready.get() + 1; });
        EXPECT_EQ(quern::when_any(never, quern::make_ready_future(1)).get().index, 1U);
        late.set_value(7);
        EXPECT_EQ(waiter.get(), 7);
        EXPECT_EQ(reaction.get(), 8);
        EXPECT_EQ(quern::when_any(never, never).get().index, 0U);
    });
}

// Holds: when_all: Futures without state are refused with std::future_error(no_state).
// Holds: when_any: Futures without state are refused with std::future_error(no_state).
TEST_P(when_test, refuses_invalid_futures) {
    EXPECT_THROW((void)when_all(future<int>()), std::future_error);
    EXPECT_THROW((void)when_any(future<int>(), make_ready_future(1)), std::future_error);
    EXPECT_THROW((void)when_all(std::vector<future<int>>(3)), std::future_error);
}

// Holds: when_all: No future that becomes ready meanwhile is lost.
TEST_P(when_test, futures_that_become_ready_meanwhile_are_not_lost) {
    inside([] {
        for (int round = 0; round < scaled(300, 50); ++round) {
            std::vector<future<int>> all, any;
            for (int i = 0; i < 10; ++i) {
                all.push_back(async([i] { return i; }));
                any.push_back(async([i] { return i; }));
            }
            auto of_all = when_all(std::move(all));
            auto of_any = when_any(std::move(any));
            auto first = of_any.get();
            ASSERT_TRUE(first.futures[first.index].is_ready());
            int sum = 0;
            for (auto& f : of_all.get()) {
                sum += f.get();
            }
            ASSERT_EQ(sum, 45);
            for (auto& f : first.futures) {
                f.wait();
            }
        }
    });
}

// Holds: when_all: Any thread may call it.
TEST_P(when_test, may_be_called_outside_with_tasks_inside) {
    auto a = async(rt, [] { return 1; });
    auto b = async(rt, [] { return 2; });
    auto [x, y] = when_all(std::move(a), std::move(b)).get();
    EXPECT_EQ(x.get() + y.get(), 3);
}

// Holds: when_all: What all producers did happens before the return of its get().
TEST_P(when_test, all_shows_what_was_done_before) {
    inside([] {
        for (int round = 0; round < scaled(200, 50); ++round) {
            int a = 0, b = 0;  // plain: ordered only by the futures
            when_all(async([&a] { a = 1; }), async([&b] { b = 2; })).get();
            ASSERT_EQ(a + b, 3);
        }
    });
}

}  // namespace
