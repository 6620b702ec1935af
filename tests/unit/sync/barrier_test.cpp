// SPDX-License-Identifier: BSL-1.0
// The barrier: phases, completion, dropping out, and destruction after the last wait.
#include <quern/sync/barrier.hpp>

#include <quern/sync/event.hpp>

#include "crew.hpp"

#include <barrier>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>

namespace {

using quern_test::crew;
using quern_test::k_sanitized;
using quern_test::let_others_run;

class barrier_test : public quern_test::on_workers {};
QUERN_ON_1_2_8_WORKERS(barrier_test);

// Holds: barrier: A phase ends when all have arrived, and not before.
// Holds: barrier: What precedes an arrive() happens before that call, and the call before the
//     return of every wait().
// Holds: barrier: arrive_and_wait() is arrive() and wait().
TEST_P(barrier_test, ends_a_phase_when_all_have_arrived_and_shows_what_they_did) {
    constexpr std::size_t k_tasks = 10;
    constexpr std::size_t k_threads = 2;
    constexpr std::size_t k_all = k_tasks + k_threads;
    const int phases = k_sanitized ? 50 : 500;
    std::vector<int> steps(k_all, 0);  // plain: the barrier orders all accesses
    std::atomic<int> wrong{0};
    quern::barrier all_there(k_all);
    const auto run = [&](std::size_t me) {
        for (int phase = 1; phase <= phases; ++phase) {
            steps[me] = phase;
            all_there.arrive_and_wait();
            for (const int other : steps) {
                wrong += other == phase ? 0 : 1;
            }
            all_there.arrive_and_wait();
        }
    };
    for (std::size_t i = 0; i < k_tasks; ++i) {
        all.task([&, i] { run(i); });
    }
    for (std::size_t i = k_tasks; i < k_all; ++i) {
        all.thread([&, i] { run(i); });
    }
    all.finish();
    EXPECT_EQ(wrong.load(), 0);
}

// Holds: barrier: The last one to arrive calls the completion function, once a phase.
// Holds: barrier: The completion function may suspend.
TEST_P(barrier_test, calls_the_completion_function_once_per_phase_before_anybody_goes_on) {
    constexpr int k_tasks = 8;
    constexpr int k_phases = 100;
    int completed = 0;  // plain, as above
    int inside = 0;
    quern::barrier met(k_tasks, [&]() noexcept {
        EXPECT_EQ(inside++, 0);
        let_others_run();  // it may suspend
        ++completed;
        --inside;
    });
    std::atomic<int> wrong{0};
    for (int i = 0; i < k_tasks; ++i) {
        all.task([&] {
            for (int phase = 1; phase <= k_phases; phase += 2) {
                met.arrive_and_wait();
                wrong += completed == phase ? 0 : 1;
                met.arrive_and_wait();  // keeps the others from completing a phase meanwhile
            }
        });
    }
    all.finish();
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_EQ(completed, k_phases);
}

// Holds: barrier: What precedes an arrive()...
TEST_P(barrier_test, shows_the_completion_function_what_all_have_done) {
    constexpr std::size_t k_tasks = 8;
    std::vector<int> steps(k_tasks, 0);  // plain: ordered only by the barrier
    int sum = 0;
    quern::barrier met(k_tasks, [&]() noexcept {
        for (int& step : steps) {
            sum += step;
            step = 0;
        }
    });
    for (std::size_t i = 0; i < k_tasks; ++i) {
        all.task([&, i] {
            for (int phase = 0; phase < 100; ++phase) {
                steps[i] = 1;
                met.arrive_and_wait();
            }
        });
    }
    all.finish();
    EXPECT_EQ(sum, static_cast<int>(k_tasks) * 100);
}

// Holds: barrier: arrive(n) counts as n arrivals and does not wait.
// Holds: barrier: wait(token) waits until the phase of the token has ended; at once if it has.
TEST_P(barrier_test, lets_one_arrive_first_and_wait_later) {
    quern::barrier met(3);
    std::atomic<int> passed{0};
    for (int i = 0; i < 2; ++i) {
        all.task([&] {
            auto token = met.arrive();
            let_others_run();
            met.wait(std::move(token));
            ++passed;
        });
    }
    all.settle();
    EXPECT_EQ(passed.load(), 0);
    auto token = met.arrive();
    met.wait(std::move(token));  // the phase has ended: returns at once
    all.finish();
    EXPECT_EQ(passed.load(), 2);
    auto of_two = met.arrive(2);
    auto of_one = met.arrive();
    met.wait(std::move(of_two));
    met.wait(std::move(of_one));
}

// Holds: barrier: arrive_and_drop() arrives, does not wait, and is not expected from the next phase
//     on.
TEST_P(barrier_test, expects_those_who_dropped_no_more) {
    constexpr int k_tasks = 20;
    std::atomic<int> phases{0};
    quern::barrier met(k_tasks, [&]() noexcept { ++phases; });
    for (int i = 0; i < k_tasks; ++i) {
        all.task([&, i] {
            for (int phase = 0; phase < i; ++phase) {
                met.arrive_and_wait();
            }
            met.arrive_and_drop();
        });
    }
    all.finish();
    EXPECT_EQ(phases.load(), k_tasks);  // one dropped out in each
}

// Holds: barrier: Tasks are woken in the order in which they began to wait.
TEST_P(barrier_test, wakes_in_the_order_of_waiting) {
    constexpr int k_waiting = 20;
    quern::barrier met(k_waiting + 1);
    std::vector<int> order;
    crew one(1);  // runs woken tasks one after another
    for (int i = 0; i < k_waiting; ++i) {
        one.task([&, i] {
            met.arrive_and_wait();
            order.push_back(i);
        });
        one.settle();
    }
    all.task([&] { met.arrive_and_wait(); });
    all.finish();
    one.finish();
    ASSERT_EQ(order.size(), std::size_t{k_waiting});
    for (int i = 0; i < k_waiting; ++i) {
        EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
    }
}

// Holds: barrier: It may be destroyed as soon as every wait() has returned, if no further arrival
//     is to come.
TEST_P(barrier_test, is_destroyed_right_after_the_last_wait) {
    const int rounds = k_sanitized ? 1'000 : 10'000;
    for (int i = 0; i < rounds; ++i) {
        auto met = std::make_unique<quern::barrier<>>(3);
        all.task([&b = *met] { b.arrive_and_drop(); });
        all.task([&b = *met] { b.arrive_and_drop(); });
        met->arrive_and_wait();
    }
    for (int i = 0; i < rounds; ++i) {
        all.task([this] {
            auto met = std::make_unique<quern::barrier<>>(2);
            all.task([&b = *met] { b.arrive_and_drop(); });
            met->arrive_and_wait();
        });
        if (i % 100 == 0) {
            all.finish();
        }
    }
}

// Holds: barrier: A negative number is std::invalid_argument. **Differs**: undefined there.
// Holds: barrier: max() is that of the standard.
TEST(barrier_test_of_limits, a_negative_number_is_an_error_and_the_maximum_that_of_the_standard) {
    EXPECT_THROW(quern::barrier<>(-1), std::invalid_argument);
    EXPECT_EQ(quern::barrier<>::max(), std::barrier<>::max());
    quern::barrier<> of_none(0);
}

// Holds: barrier: It is made with a number and a completion function that is moved in; it cannot be
//     copied.
TEST(barrier_test_of_limits, cannot_be_copied_and_moves_its_function) {
    EXPECT_FALSE(std::is_copy_constructible_v<quern::barrier<>>);
    EXPECT_FALSE(std::is_move_constructible_v<quern::barrier<>>);
    EXPECT_FALSE(std::is_copy_assignable_v<quern::barrier<>>);
    bool called = false;
    auto own = std::make_unique<bool*>(&called);
    quern::barrier met(1, [p = std::move(own)]() noexcept { **p = true; });
    met.arrive_and_wait();
    EXPECT_TRUE(called);
}

// Holds: barrier: n of 0 or less, or more than have yet to arrive, aborts. **Differs**: undefined
//     there.
TEST(barrier_death_test, arriving_more_often_than_expected_aborts) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH((void)quern::barrier<>(1).arrive(2), "than it expects");
    EXPECT_DEATH((void)quern::barrier<>(1).arrive(0), "not positive");
}

}  // namespace
