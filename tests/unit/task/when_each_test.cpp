// SPDX-License-Identifier: BSL-1.0
// when_each: every future once, one call at a time, in order of arrival; failures.
#include <quern/task/async.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/this_task.hpp>
#include <quern/task/when_each.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using quern::async;
using quern::future;
using quern::make_ready_future;
using quern::promise;
using quern::shared_future;
using quern::when_each;
using quern_test::scaled;

class when_each_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(when_each_test);

// Holds: when_each: f(future) is called with each of the futures, once.
// Holds: when_each: What one call did happens before the next one: f needs no lock.
// Holds: when_each: Ready when all calls...
TEST_P(when_each_test, calls_once_for_each_without_a_lock) {
    inside([] {
        for (const int n : {0, 1, 2, scaled(2'000, 200)}) {
            std::vector<future<int>> parts;
            for (int i = 0; i < n; ++i) {
                parts.push_back(async([i] { return i; }));
            }
            long sum = 0;
            when_each([&sum](future<int> part) { sum += part.get(); }, std::move(parts)).get();
            ASSERT_EQ(sum, long{n} * (n - 1) / 2);
        }
    });
}

// Holds: when_each: f(index, future) is called instead if f takes that.
// Holds: when_each: f is called in the order in which the futures became ready.
// Holds: when_each: Ready when all calls have returned.
TEST_P(when_each_test, follows_the_order_of_arrival) {
    inside([] {
        promise<int> a, c;
        promise<std::string> b;
        std::vector<std::size_t> order;
        auto all = when_each([&order](std::size_t index, auto) { order.push_back(index); },
                             a.get_future(), b.get_future(), c.get_future());
        c.set_value(3);
        a.set_value(1);
        EXPECT_FALSE(all.is_ready());
        b.set_value("two");
        all.get();
        EXPECT_EQ(order, (std::vector<std::size_t>{2, 0, 1}));
    });
}

// Holds: when_each: Ready futures, shared ones and ranges are taken; shared ones are copied.
TEST_P(when_each_test, takes_futures_that_are_ready_shared_ones_and_ranges) {
    inside([] {
        std::list<shared_future<int>> shared{make_ready_future(1).share(),
                                             async([] { return 2; }).share()};
        int sum = 0;
        when_each([&sum](const shared_future<int>& f) { sum += f.get(); }, shared.begin(),
                  shared.end())
            .get();
        EXPECT_EQ(sum, 3);
        EXPECT_TRUE(shared.front().valid());
        when_each([&sum](auto f) { sum += f.get(); }, make_ready_future(1), shared.back()).get();
        EXPECT_EQ(sum, 6);
    });
}

// Holds: when_each: f is called once at a time; while a call waits, the others wait for it.
TEST_P(when_each_test, a_call_that_waits_keeps_the_others_waiting) {
    inside([] {
        std::vector<future<int>> parts;
        for (int i = 0; i < 50; ++i) {
            parts.push_back(async([i] { return i; }));
        }
        int inside_now = 0;
        int most = 0;
        when_each(
            [&](future<int> part) {
                most = std::max(most, ++inside_now);
                part.get();
                quern::this_task::yield();
                async([] {}).get();
                --inside_now;
            },
            std::move(parts))
            .get();
        EXPECT_EQ(most, 1);
    });
}

// Holds: when_each: The first exception that leaves f comes out at once, and f is not called any
//     more.
// Holds: when_each: What a future holds as an exception is f's to see.
// Holds: when_each: Futures without state are refused with std::future_error(no_state).
TEST_P(when_each_test, the_first_exception_of_the_function_ends_it) {
    auto witness = std::make_shared<int>(0);
    promise<int> late;
    int calls = 0;
    auto all = when_each(
        [&calls, witness](future<int> f) {
            ++calls;
            f.get();
        },
        quern::make_exceptional_future<int>(std::make_exception_ptr(std::runtime_error("part"))),
        late.get_future());
    EXPECT_THROW(all.get(), std::runtime_error);
    EXPECT_EQ(witness.use_count(), 1);
    late.set_value(1);
    EXPECT_EQ(calls, 1);
    EXPECT_THROW((void)when_each([](auto) {}, future<int>()), std::future_error);
}

// Holds: when_each: Futures may be made ready by any thread.
TEST_P(when_each_test, producers_outside_are_not_lost) {
    for (int round = 0; round < scaled(100, 20); ++round) {
        std::vector<promise<int>> promises(20);
        std::vector<future<int>> parts;
        for (auto& p : promises) {
            parts.push_back(p.get_future());
        }
        int sum = 0;
        auto all = inside([&] {
            return when_each([&sum](future<int> part) { sum += part.get(); }, std::move(parts));
        });
        std::thread other([&] {
            for (std::size_t i = 0; i < 10; ++i) {
                promises[i].set_value(1);
            }
        });
        for (std::size_t i = 10; i < 20; ++i) {
            promises[i].set_value(1);
        }
        other.join();
        all.get();
        ASSERT_EQ(sum, 20);
    }
}

// Holds: when_each: f is called in tasks of the caller's pool.
TEST_P(when_each_test, runs_in_the_pool_of_the_caller) {
    const auto* mine = &rt.default_pool().get();
    promise<int> late;  // kept outside
    int calls = 0;
    auto all = inside([&] {
        return when_each(
            [&calls, mine](auto) {
                EXPECT_EQ(&quern::current_pool().get(), mine);
                ++calls;
            },
            late.get_future(), make_ready_future(1));
    });
    late.set_value(1);
    all.get();
    EXPECT_EQ(calls, 2);
}

}  // namespace
