// SPDX-License-Identifier: BSL-1.0
// wait_all, wait_any, wait_some: they wait for futures in place, which stay valid.
#include <quern/task/async.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/wait.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using quern::async;
using quern::future;
using quern::promise;
using quern::wait_all;
using quern::wait_any;
using quern::wait_some;

class wait_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(wait_test);

// Holds: wait_all: wait_all returns when all are ready, in a task and outside; of arguments, a
//     sequence or a range.
// Holds: wait_all: The futures stay valid.
TEST_P(wait_test, for_all_leaves_them_ready_and_valid) {
    const auto body = [this] {
        future<std::unique_ptr<int>> one = async(rt, [] { return std::make_unique<int>(1); });
        const auto two = async(rt, [] { return std::string("two"); }).share();
        wait_all(one, two);
        EXPECT_TRUE(one.is_ready() && two.is_ready());
        EXPECT_EQ(*one.get() + static_cast<int>(two.get().size()), 4);
        std::vector<future<int>> many;
        for (int i = 0; i < 100; ++i) {
            many.push_back(async(rt, [i] { return i; }));
        }
        wait_all(many);
        int sum = 0;
        for (auto& f : many) {
            EXPECT_TRUE(f.is_ready());
            sum += f.get();
        }
        EXPECT_EQ(sum, 4950);
        std::list<future<void>> others;
        others.push_back(async(rt, [] {}));
        wait_all(others.begin(), others.end());
        EXPECT_TRUE(others.front().is_ready());
        wait_all();
        wait_all(std::vector<future<int>>());
    };
    inside(body);
    body();
}

// Holds: wait_all: **Differs** from HPX's: an exception stays in the future that holds it.
TEST_P(wait_test, leaves_exceptions_in_their_futures) {
    auto bad = async(rt, []() -> int { throw std::runtime_error("bad"); });
    auto good = async(rt, [] { return 1; });
    wait_all(bad, good);
    EXPECT_TRUE(bad.has_exception());
    EXPECT_EQ(wait_any(bad), 0U);
    EXPECT_THROW(bad.get(), std::runtime_error);
    EXPECT_EQ(good.get(), 1);
}

// Holds: wait_all: An invalid future: std::future_error(no_state); more than there are:
//     std::invalid_argument.
TEST_P(wait_test, of_an_invalid_future_throws) {
    future<int> none;
    const auto good = quern::make_ready_future(1);
    EXPECT_THROW(wait_all(good, none), std::future_error);
    EXPECT_THROW(wait_any(good, none), std::future_error);
    EXPECT_THROW(wait_some(1, good, none), std::future_error);
    EXPECT_THROW(wait_some(2, good), std::invalid_argument);
}

// Holds: wait_all: wait_any returns when one is ready, and which.
// Holds: wait_all: The futures stay...
TEST_P(wait_test, for_any_tells_which_and_leaves_all_valid) {
    const auto body = [] {
        promise<std::unique_ptr<int>> a;
        promise<void> b;
        auto first = a.get_future();
        auto second = b.get_future();
        auto later = async([&b] { b.set_value(); });
        EXPECT_EQ(wait_any(first, second), 1U);
        EXPECT_FALSE(first.is_ready());
        second.get();
        a.set_value(std::make_unique<int>(3));
        EXPECT_EQ(wait_any(first), 0U);
        EXPECT_EQ(*first.get(), 3);
        later.get();
        EXPECT_EQ(wait_any(std::vector<future<int>>()),
                  quern::when_any_result<std::vector<future<int>>>::k_none);
    };
    inside(body);
    body();
}

// Holds: wait_all: wait_some returns when so many are, and which, in the order in which they became
//     ready.
TEST_P(wait_test, for_some_tells_which_in_the_order_of_their_arrival) {
    std::vector<promise<int>> makers(4);
    std::vector<future<int>> all;
    for (auto& p : makers) {
        all.push_back(p.get_future());
    }
    auto told = async(rt, [&all] { return wait_some(2, all); });
    makers[2].set_value(2);
    makers[0].set_value(0);
    const auto which = told.get();
    EXPECT_EQ(which.size(), 2U);
    EXPECT_TRUE(all[0].is_ready() && all[2].is_ready());
    makers[1].set_value(1);
    makers[3].set_value(3);
    EXPECT_EQ(wait_some(4, all.begin(), all.end()), (std::vector<std::size_t>{0, 1, 2, 3}));
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(all[static_cast<std::size_t>(i)].get(), i);
    }
}

// Holds: wait_all: Futures that were waited for may be waited for again.
TEST_P(wait_test, may_be_repeated_until_all_are_done) {
    inside([] {
        std::vector<future<int>> all;
        for (int i = 0; i < 50; ++i) {
            all.push_back(async([i] {
                quern::this_task::yield();
                return i;
            }));
        }
        int sum = 0;
        while (!all.empty()) {
            const std::size_t which = wait_any(all);
            sum += all[which].get();
            all.erase(all.begin() + static_cast<std::ptrdiff_t>(which));
        }
        EXPECT_EQ(sum, 1225);
    });
}

// Holds: wait_all: Deferred tasks are started.
TEST_P(wait_test, begins_deferred_tasks) {
    inside([] {
        auto one = async(quern::launch::deferred, [] { return 1; });
        auto two = async(quern::launch::deferred, [] { return 2; });
        EXPECT_LT(wait_any(one, two), 2U);
        wait_all(one, two);
        EXPECT_EQ(one.get() + two.get(), 3);
    });
}

}  // namespace
