// SPDX-License-Identifier: BSL-1.0
// The latch: it opens when the count is zero and not before, for very many waiters, and may be
// destroyed then.
#include <quern/sync/latch.hpp>

#include "crew.hpp"

#include <latch>
#include <memory>
#include <stdexcept>
#include <type_traits>

namespace {

using quern_test::crew;
using quern_test::k_sanitized;

class latch_test : public quern_test::on_workers {};
QUERN_ON_1_2_8_WORKERS(latch_test);

// Holds: latch: count_down(n) takes n off; n may be 0.
// Holds: latch: wait() returns when the count is zero, and at once from then on.
// Holds: latch: try_wait(): whether the count is zero. **Differs**: it does not spuriously say
//     false, but for the last count_down() that has not returned.
TEST_P(latch_test, holds_until_the_count_is_zero) {
    quern::latch done(3);
    std::atomic<int> passed{0};
    all.task([&] {
        done.wait();
        ++passed;
    });
    all.settle();
    done.count_down();
    done.count_down(0);
    EXPECT_FALSE(done.try_wait());
    all.settle();
    EXPECT_EQ(passed.load(), 0);
    done.count_down(2);
    EXPECT_TRUE(done.try_wait());
    done.wait();
    all.finish();
    EXPECT_EQ(passed.load(), 1);
}

// Holds: latch: Tasks and threads may wait, very many at once.
TEST_P(latch_test, lets_ten_thousand_suspended_tasks_go_on) {
    const int waiting = quern::detail::k_tsan ? 1'000 : 10'000;  // its limit on stacks
    constexpr int k_threads = 4;
    quern::latch go(1);
    quern::latch gone(waiting + k_threads);
    int answer = 0;
    std::atomic<int> right{0};
    const auto wait = [&] {
        go.wait();
        right += answer == 42 ? 1 : 0;
        gone.count_down();
    };
    for (int i = 0; i < waiting; ++i) {
        all.task(wait);
    }
    for (int i = 0; i < k_threads; ++i) {
        all.thread(wait);
    }
    all.settle();
    answer = 42;
    go.count_down();
    gone.wait();
    EXPECT_EQ(right.load(), waiting + k_threads);
}

// Holds: latch: Tasks are woken in the order in which they began to wait.
TEST_P(latch_test, wakes_in_the_order_of_waiting) {
    constexpr int k_waiting = 30;
    quern::latch go(1);
    std::vector<int> order;
    crew one(1);  // runs woken tasks one after another
    for (int i = 0; i < k_waiting; ++i) {
        one.task([&, i] {
            go.wait();
            order.push_back(i);
        });
        one.settle();
    }
    all.task([&] { go.count_down(); });
    all.finish();
    one.finish();
    ASSERT_EQ(order.size(), std::size_t{k_waiting});
    for (int i = 0; i < k_waiting; ++i) {
        EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
    }
}

// Holds: latch: arrive_and_wait(n) is count_down(n) and wait().
// Holds: latch: What precedes a count_down() happens before the return of every wait().
TEST_P(latch_test, makes_visible_what_all_have_done) {
    constexpr std::size_t k_tasks = 64;
    std::vector<int> results(k_tasks, 0);
    quern::latch met(k_tasks + 1);
    std::atomic<int> complete{0};
    for (std::size_t i = 0; i < k_tasks; ++i) {
        all.task([&, i] {
            results[i] = 1;
            met.arrive_and_wait();
            int sum = 0;
            for (const int r : results) {
                sum += r;
            }
            complete += sum == k_tasks ? 1 : 0;
        });
    }
    met.arrive_and_wait();
    all.finish();
    EXPECT_EQ(complete.load(), static_cast<int>(k_tasks));
}

// Holds: latch: arrive_and_wait(n) is count_down(n) and...
TEST_P(latch_test, arrives_as_many_and_waits) {
    quern::latch met(5);
    std::atomic<int> passed{0};
    for (int i = 0; i < 2; ++i) {
        all.task([&] {
            met.arrive_and_wait(2);
            ++passed;
        });
    }
    all.settle();
    EXPECT_EQ(passed.load(), 0);
    met.arrive_and_wait();
    all.finish();
    EXPECT_EQ(passed.load(), 2);
}

// Holds: latch: What precedes a count_down() happens before the return of a try_wait() that says
//     true.
TEST_P(latch_test, shows_what_was_done_to_one_that_looks) {
    for (int i = 0; i < 100; ++i) {
        quern::latch done(2);
        int a = 0;  // plain: ordered only by the latch
        int b = 0;
        all.task([&] {
            a = 1;
            done.count_down();
        });
        all.task([&] {
            b = 1;
            done.count_down();
        });
        while (!done.try_wait()) {
            std::this_thread::yield();
        }
        EXPECT_EQ(a + b, 2);
        all.finish();
    }
}

// Holds: latch: It may be destroyed as soon as every wait() has returned, while the last
//     count_down() has not.
TEST_P(latch_test, is_destroyed_right_after_wait) {
    const int rounds = k_sanitized ? 2'000 : 20'000;
    for (int i = 0; i < rounds; ++i) {
        auto done = std::make_unique<quern::latch>(3);
        for (int t = 0; t < 3; ++t) {
            all.task([&latch = *done] { latch.count_down(); });
        }
        done->wait();
    }
    for (int i = 0; i < rounds; ++i) {
        all.task([this] {
            auto done = std::make_unique<quern::latch>(1);
            all.task([&latch = *done] { latch.count_down(); });
            done->wait();
        });
        if (i % 100 == 0) {
            all.finish();
        }
    }
}

// Holds: latch: A negative count is std::invalid_argument. **Differs**: undefined there.
// Holds: latch: max() is as large as the standard library's, or larger.
TEST(latch_test_of_limits, a_count_of_zero_is_open_and_a_negative_one_an_error) {
    const quern::latch open(0);
    EXPECT_TRUE(open.try_wait());
    open.wait();
    EXPECT_THROW(quern::latch(-1), std::invalid_argument);
    EXPECT_GE(quern::latch::max(), std::latch::max());
}

// Holds: latch: It is made with a count; it cannot be copied or moved.
TEST(latch_test_of_limits, cannot_be_copied) {
    EXPECT_FALSE(std::is_copy_constructible_v<quern::latch>);
    EXPECT_FALSE(std::is_move_constructible_v<quern::latch>);
    EXPECT_FALSE(std::is_copy_assignable_v<quern::latch>);
}

// Holds: latch: n below 0 or above what is left aborts. **Differs**: undefined there.
TEST(latch_death_test, counting_below_zero_aborts) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(quern::latch(1).count_down(2), "below zero");
    EXPECT_DEATH(quern::latch(1).count_down(-1), "negative");
}

}  // namespace
