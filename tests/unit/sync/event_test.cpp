// SPDX-License-Identifier: BSL-1.0
// The event: blocks until it is set, then wakes all; may be reset, and may be destroyed at once.
#include <quern/sync/event.hpp>

#include "crew.hpp"

#include <memory>

namespace {

using quern_test::crew;
using quern_test::k_sanitized;

class event_test : public quern_test::on_workers {};
QUERN_ON_1_2_8_WORKERS(event_test);

// Holds: event: It is not set, or set, as it is made.
// Holds: event: wait() waits until it is set, and not once it is.
// Holds: event: set() does nothing when it is set, reset() nothing when it is not.
// Holds: event: is_set(): whether it is set now.
// Holds: event: What precedes a set() happens before the return of every wait() that it wakes.
// Holds: event: Tasks and threads may wait.
TEST_P(event_test, holds_until_it_is_set_and_lets_all_pass_from_then_on) {
    constexpr int k_waiting = 100;
    constexpr int k_threads = 3;
    quern::event ready;
    int answer = 0;
    std::atomic<int> right{0};
    const auto wait = [&] {
        ready.wait();
        right += answer == 42 ? 1 : 0;
    };
    for (int i = 0; i < k_waiting; ++i) {
        all.task(wait);
    }
    for (int i = 0; i < k_threads; ++i) {
        all.thread(wait);
    }
    all.settle();
    EXPECT_EQ(right.load(), 0);
    EXPECT_FALSE(ready.is_set());
    answer = 42;
    ready.set();
    ready.set();  // no effect
    EXPECT_TRUE(ready.is_set());
    wait();
    all.task(wait);
    all.finish();
    EXPECT_EQ(right.load(), k_waiting + k_threads + 2);
}

// Holds: event: It is not set...
// Holds: event: It stays set until it is reset.
// Holds: event: set() does nothing when...
TEST_P(event_test, holds_again_when_it_has_been_reset) {
    quern::event ready(true);
    std::atomic<int> passed{0};
    ready.wait();
    ready.reset();
    ready.reset();  // no effect
    EXPECT_FALSE(ready.is_set());
    all.task([&] {
        ready.wait();
        ++passed;
    });
    all.settle();
    EXPECT_EQ(passed.load(), 0);
    ready.set();
    all.finish();
    EXPECT_EQ(passed.load(), 1);
}

// Holds: event: set() wakes all present waiters, also when a reset() follows before they run.
TEST_P(event_test, lets_those_go_on_that_waited_when_it_was_set_though_it_is_reset_at_once) {
    quern::event ready;
    std::atomic<int> passed{0};
    for (int round = 1; round <= 50; ++round) {
        for (int i = 0; i < 10; ++i) {
            all.task([&] {
                ready.wait();
                ++passed;
            });
        }
        all.settle();
        ready.set();
        ready.reset();
        all.finish();
        ASSERT_EQ(passed.load(), 10 * round);
    }
}

// Holds: event: Tasks are woken in the order in which they began to wait.
TEST_P(event_test, wakes_in_the_order_of_waiting) {
    constexpr int k_waiting = 30;
    quern::event go;
    std::vector<int> order;
    crew one(1);  // runs woken tasks one after another
    for (int i = 0; i < k_waiting; ++i) {
        one.task([&, i] {
            go.wait();
            order.push_back(i);
        });
        one.settle();
    }
    all.task([&] { go.set(); });
    all.finish();
    one.finish();
    ASSERT_EQ(order.size(), std::size_t{k_waiting});
    for (int i = 0; i < k_waiting; ++i) {
        EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
    }
}

// Holds: event: It may be destroyed as soon as every wait() has returned, while the set() that let
//     it has not.
TEST_P(event_test, is_destroyed_right_after_wait) {
    const int rounds = k_sanitized ? 2'000 : 20'000;
    for (int i = 0; i < rounds; ++i) {
        auto done = std::make_unique<quern::event>();
        all.task([&e = *done] { e.set(); });
        done->wait();
    }
    for (int i = 0; i < rounds; ++i) {
        all.task([this] {
            auto done = std::make_unique<quern::event>();
            all.task([&e = *done] { e.set(); });
            done->wait();
        });
        if (i % 100 == 0) {
            all.finish();
        }
    }
}

}  // namespace
