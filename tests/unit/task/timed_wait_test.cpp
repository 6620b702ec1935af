// SPDX-License-Identifier: BSL-1.0
// Waiting for a future with a limit, by tasks and by threads: the result comes first, the limit
// comes first, both come together.
#include <quern/base/detail/blocks.hpp>
#include <quern/task/promise.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <chrono>
#include <vector>

namespace {

using quern::promise;
using std::future_status;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

class timed_wait_test : public quern_test::on_runtime {
protected:
    /// Runs the function as a task and then on this thread.
    template <class F>
    void in_and_outside(F&& f) {
        inside(f);
        f();
    }
};
QUERN_ON_ALL_POLICIES(timed_wait_test);

// Holds: future: wait_for() and wait_until() say ready at once when the result is there, whatever
//     the time.
// Holds: shared_future: The timed waits are those of future.
TEST_P(timed_wait_test, says_ready_at_once_when_the_result_is_there) {
    in_and_outside([] {
        auto f = quern::make_ready_future(1);
        EXPECT_EQ(f.wait_for(0s), future_status::ready);
        EXPECT_EQ(f.wait_for(-1h), future_status::ready);
        EXPECT_EQ(f.wait_until(clock::now() - 1h), future_status::ready);
        EXPECT_EQ(f.wait_until(clock::time_point::min()), future_status::ready);
        EXPECT_EQ(f.share().wait_for(std::chrono::hours::max()), future_status::ready);
    });
}

// Holds: future: wait_for() and wait_until() say timeout not before the time, by any clock.
TEST_P(timed_wait_test, says_timeout_not_before_the_time) {
    in_and_outside([] {
        promise<int> never;
        auto f = never.get_future();
        for (const auto time : {0ms, 1ms, 5ms}) {
            const auto start = clock::now();
            EXPECT_EQ(f.wait_for(time), future_status::timeout);
            EXPECT_GE(clock::now() - start, time);
        }
        EXPECT_EQ(f.wait_until(clock::time_point::min()), future_status::timeout);
        const auto when = std::chrono::system_clock::now() + 2ms;
        EXPECT_EQ(f.wait_until(when), future_status::timeout);
        EXPECT_GE(std::chrono::system_clock::now(), when);
        never.set_value(1);
        EXPECT_EQ(f.wait_for(1h), future_status::ready);
        EXPECT_EQ(f.get(), 1);
    });
}

// Holds: future: A wait whose time has passed already keeps no memory, however often it is
//     repeated.
TEST_P(timed_wait_test, keeps_nothing_when_the_time_has_passed_before) {
    const auto in_blocks = [] { return quern::detail::read_block_totals().carved; };
    in_and_outside([&] {
        promise<int> never;
        auto f = never.get_future();
        const auto before = in_blocks();
        for (int left = quern_test::scaled(50'000, 1'000); left != 0; --left) {
            ASSERT_EQ(f.wait_for(0s), future_status::timeout);
        }
        EXPECT_LT(in_blocks(), before + (std::size_t{1} << 20));  // a wait takes 100 bytes
    });
}

TEST_P(timed_wait_test, a_task_that_polls_lets_others_run) {
    inside([] {
        auto f = quern::async([] { quern::this_task::yield(); });
        while (f.wait_for(0s) != future_status::ready) {
        }
        f.get();
    });
}

// Holds: future: **Differs**: wait_for() and wait_until()...
TEST_P(timed_wait_test, starts_a_deferred_task_also_when_the_time_has_passed_before) {
    auto f = quern::async({.how = quern::launch::deferred, .pool = &rt.default_pool().get()},
                          [] { return 3; });
    EXPECT_NE(f.wait_until(clock::time_point::min()), future_status::deferred);
    EXPECT_TRUE(quern_test::eventually([&] { return f.is_ready(); }));
}

// Holds: future: wait_for() and wait_until() say ready as soon as the result comes.
// Holds: future: **Differs**: wait_for() and wait_until() start a deferred task, and never say
//     deferred.
TEST_P(timed_wait_test, ends_when_the_result_comes) {
    in_and_outside([this] {
        auto f = quern::async(rt, [] { quern_test::spin_for(2ms); });
        EXPECT_EQ(f.wait_for(1h), future_status::ready);
        auto deferred = quern::async(
            {.how = quern::launch::deferred, .pool = &rt.default_pool().get()}, [] { return 3; });
        EXPECT_EQ(deferred.wait_for(1h), future_status::ready);
        EXPECT_EQ(deferred.get(), 3);
    });
}

// Holds: future: wait_for() and wait_until() return once when result and time come together.
TEST_P(timed_wait_test, ends_once_when_result_and_time_come_together) {
    const int rounds = quern_test::scaled(500, 50);
    for (int i = 0; i < rounds; ++i) {
        promise<int> value;
        auto f = value.get_future().share();
        auto waiter = quern::async(rt, [f] { return f.wait_for(200us) == future_status::ready; });
        std::thread maker([&value, i] {
            quern_test::spin_for(std::chrono::microseconds(150 + i % 100));
            value.set_value(i);
        });
        const bool outside = f.wait_for(200us) == future_status::ready;
        waiter.get();
        maker.join();
        EXPECT_EQ(f.get(), i);
        static_cast<void>(outside);  // both results are right
    }
}

// Holds: future: A task that waits leaves its worker to others.
// Holds: shared_future: The timed waits are...
TEST_P(timed_wait_test, leaves_the_worker_to_others) {
    promise<void> go;
    auto f = go.get_future().share();
    std::vector<quern::future<future_status>> all;
    for (int i = 0; i < 50; ++i) {
        all.push_back(quern::async(rt, [f] { return f.wait_for(1h); }));
    }
    quern::async(rt, [&go] { go.set_value(); }).get();
    for (auto& each : all) {
        EXPECT_EQ(each.get(), future_status::ready);
    }
}

}  // namespace
