// SPDX-License-Identifier: BSL-1.0
// make_ready_future_at and _after: not before the time, with the value, without a task.
#include <quern/task/ready_at.hpp>
#include <quern/task/when.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using quern::make_ready_future_after;
using quern::make_ready_future_at;
using clock = std::chrono::steady_clock;

class timed_future : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(timed_future);

// Holds: make_ready_future_at: Becomes ready at its time and not before.
TEST_P(timed_future, becomes_ready_at_its_time_and_not_before) {
    inside([] {
        const auto due = clock::now() + 20ms;
        auto at = make_ready_future_at(due);
        auto after = make_ready_future_after(20ms, std::string("value"));
        const bool is_early = at.is_ready();
        EXPECT_TRUE(!is_early || clock::now() >= due);  // the task may have lost its processor
        at.get();
        EXPECT_GE(clock::now(), due);
        EXPECT_EQ(after.get(), "value");
    });
}

TEST_P(timed_future, becomes_ready_while_the_task_that_made_it_runs_on) {
    if (!has_thieves()) {
        GTEST_SKIP() << "needs a worker that is not kept busy";
    }
    inside([] {
        auto after = make_ready_future_after(1ms);
        while (!after.is_ready()) {
            std::this_thread::yield();
        }
    });
}

// Holds: make_ready_future_at: Any clock will do; a time that has passed makes it ready at once.
TEST_P(timed_future, takes_any_clock_and_a_time_that_has_passed) {
    inside([] {
        const auto due = std::chrono::system_clock::now() + 10ms;
        EXPECT_EQ(make_ready_future_at(due, 7).get(), 7);
        EXPECT_GE(std::chrono::system_clock::now(), due);
        make_ready_future_at(clock::time_point::min()).get();
        make_ready_future_after(-1s).get();
        EXPECT_EQ(make_ready_future_after(0s, 8).get(), 8);
    });
}

// Holds: make_ready_future_at: It may carry a value, which need only be moved.
TEST_P(timed_future, carries_a_value_that_can_only_be_moved) {
    inside([] { EXPECT_EQ(*make_ready_future_after(1ms, std::make_unique<int>(5)).get(), 5); });
}

// Holds: make_ready_future_at: Continuations may wait.
TEST_P(timed_future, runs_continuations_that_may_wait) {
    inside([] {
        auto next = make_ready_future_after(1ms).then(quern::launch::sync, [](auto f) {
            f.get();
            make_ready_future_after(1ms).get();  // suspends only the task that runs it
            return 3;
        });
        EXPECT_EQ(next.get(), 3);
    });
}

// Holds: make_ready_future_at: It ends a when_any.
TEST_P(timed_future, ends_a_wait_for_the_first_of_several) {
    inside([] {
        std::vector<quern::future<int>> all;
        all.push_back(make_ready_future_after(200ms, 0));
        all.push_back(make_ready_future_after(1ms, 1));
        auto first = quern::when_any(std::move(all)).get();
        EXPECT_EQ(first.futures[first.index].get(), 1);
    });
}

// Holds: make_ready_future_at: Thousands come in the order of their times.
TEST_P(timed_future, come_in_thousands_in_the_order_of_their_times) {
    inside([] {
        const auto now = clock::now();
        std::vector<quern::future<int>> all;
        for (int i = 0; i < 5000; ++i) {
            all.push_back(make_ready_future_at(now + i * 5us, i));
        }
        for (int i = 0; i < 5000; ++i) {
            const auto place = static_cast<std::size_t>(i);
            EXPECT_EQ(all[place].get(), i);
            EXPECT_GE(clock::now(), now + i * 5us);
        }
    });
}

// Holds: make_ready_future_at: Outside a worker the default runtime sees to it.
TEST(a_timed_future_outside, is_seen_to_by_the_default_runtime) {
    EXPECT_EQ(make_ready_future_after(1ms, 4).get(), 4);
}

// Holds: make_ready_future_at: Dropped, it holds up the end of its runtime until its time.
TEST(a_timed_future_that_is_dropped, holds_up_the_end_of_its_runtime_until_its_time) {
    const auto due = clock::now() + 30ms;
    {
        quern::runtime rt(quern::runtime_options::with_workers(1));
        quern::async(rt, [due] { (void)make_ready_future_at(due, std::string("unused")); }).get();
    }
    EXPECT_GE(clock::now(), due);
}

}  // namespace
