// SPDX-License-Identifier: BSL-1.0
// The examples of docs/porting that stop needless work, run and checked. The lines between two
// markers `// [name]` are those of the pages, which ../check_examples.py compares.
#include <quern/quern.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stop_token>
#include <string>
#include <utility>

namespace {

using namespace std::chrono_literals;

TEST(porting_of_cancellation, a_loop_that_is_stopped) {
    constexpr int n = 1'000'000;
    std::atomic<int> found{-1};
    const auto fits = [](int i) { return i % 1'000 == 777; };
    bool was_stopped = false;
    // [stop]
    std::stop_source enough;
    try {
        quern::parallel_for(enough.get_token(), 0, n, [&](int i) {
            if (fits(i)) {
                found = i;
                enough.request_stop();
            }
        });
    } catch (const quern::task_cancelled&) {
        was_stopped = true;
    }
    // [stop]
    EXPECT_TRUE(was_stopped);
    EXPECT_TRUE(fits(found));
}

TEST(porting_of_cancellation, a_group_that_is_cancelled) {
    std::atomic<int> begun{0}, ended{0};
    // [group]
    quern::task_group group;
    for (int i = 0; i < 100; ++i) {
        group.run([&] {
            ++begun;
            while (!quern::this_task::stop_requested()) {
                quern::this_task::yield();
            }
            ++ended;
        });
    }
    group.cancel();  // what has not begun is dropped, what runs is asked to stop
    group.wait();
    // [group]
    EXPECT_EQ(begun, ended) << "what had begun has gone on to its end";
    EXPECT_FALSE(group.is_cancelled()) << "it can be used again";
}

TEST(porting_of_cancellation, a_limit_for_an_answer) {
    quern::promise<std::string> nobody_answers;
    quern::future<std::string> answer = nobody_answers.get_future();
    // [timeout]
    auto late = quern::make_ready_future_after(10ms, std::string("none"));
    auto first = quern::when_any(std::move(answer), std::move(late)).get();
    const std::string text =
        first.index == 0 ? std::get<0>(first.futures).get() : std::get<1>(first.futures).get();
    // [timeout]
    EXPECT_EQ(text, "none");
}

}  // namespace
