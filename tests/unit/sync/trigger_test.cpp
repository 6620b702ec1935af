// SPDX-License-Identifier: BSL-1.0
// The trigger and the and-gate: generations, their futures, inputs in any order, errors.
#include <quern/sync/and_gate.hpp>
#include <quern/sync/latch.hpp>
#include <quern/sync/trigger.hpp>

#include "crew.hpp"

#include <memory>
#include <stdexcept>

namespace {

using quern_test::crew;
using quern_test::k_sanitized;

class trigger_test : public quern_test::on_workers {};
QUERN_ON_1_2_8_WORKERS(trigger_test);

// Holds: trigger: The first generation is 0; set() ends the present one, begins the next, and
//     returns the number of the one it ended.
// Holds: trigger: get_future() is ready when the present generation ends, for any number of
//     callers. **Differs** from HPX's: set() ends the generation, not get_future().
// Holds: trigger: What precedes a set() happens before what it wakes.
TEST_P(trigger_test, ends_a_generation_for_all_who_have_its_future) {
    constexpr int k_waiting = 20;
    quern::trigger t;
    int answer = 0;
    std::atomic<int> right{0};
    const auto wait = [&, f = t.get_future()] {
        f.wait();
        right += answer == 42 ? 1 : 0;
    };
    for (int i = 0; i < k_waiting; ++i) {
        all.task(wait);
    }
    all.thread(wait);
    all.settle();
    EXPECT_EQ(right.load(), 0);
    answer = 42;
    EXPECT_EQ(t.set(), 0);
    EXPECT_EQ(t.generation(), 1);
    all.finish();
    EXPECT_EQ(right.load(), k_waiting + 1);
    const auto next = t.get_future();
    EXPECT_FALSE(next.is_ready());
    EXPECT_EQ(t.set(), 1);
    EXPECT_TRUE(next.is_ready());
}

// Holds: trigger: Waiters are woken before the call of continuations, which may wait for them.
TEST_P(trigger_test, wakes_those_who_wait_before_it_calls_what_may_wait_for_them) {
    quern::trigger t;
    quern::latch woken(1);
    auto next = t.get_future().then(quern::launch::sync, [&](auto) { woken.wait(); });
    all.task([&] {
        t.synchronize(1);
        woken.count_down();
    });
    all.settle();
    all.task([&] { t.set(); });
    all.finish();
    next.get();
}

// Holds: trigger: synchronize(n) waits until there have been n calls of set().
// Holds: trigger: synchronize() with a number that has passed returns at once. **Differs** from
//     HPX's.
TEST_P(trigger_test, lets_one_wait_for_a_generation_to_come) {
    quern::trigger t;
    std::atomic<int> begun{0};
    for (const int n : {3, 1, 2, 5, 4, 0}) {
        all.task([&, n] {
            t.synchronize(n);
            EXPECT_GE(t.generation(), n);
            ++begun;
        });
    }
    all.thread([&] { t.synchronize(5); });
    for (int n = 0; n < 5; ++n) {
        all.settle();
        EXPECT_EQ(begun.load(), n + 1);
        t.set();
    }
    all.finish();
    EXPECT_EQ(begun.load(), 6);
}

// Holds: trigger: Tasks in synchronize() are woken by generation, then in the order in which they
//     came.
TEST_P(trigger_test, wakes_in_the_order_of_waiting) {
    constexpr int k_waiting = 20;
    quern::trigger t;
    std::vector<int> order;
    crew one(1);  // runs woken tasks one after another
    for (int i = 0; i < k_waiting; ++i) {
        one.task([&, i] {
            t.synchronize(1);
            order.push_back(i);
        });
        one.settle();
    }
    all.task([&] { t.set(); });
    all.finish();
    one.finish();
    ASSERT_EQ(order.size(), std::size_t{k_waiting});
    for (int i = 0; i < k_waiting; ++i) {
        EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
    }
}

// Holds: trigger: generation(): the number of the present one; unobserved ones count too.
TEST_P(trigger_test, counts_generations_that_nobody_watches) {
    quern::trigger t;
    constexpr int k_sets = 100;
    for (int i = 0; i < k_sets; ++i) {
        all.task([&] { t.set(); });
    }
    t.synchronize(k_sets);
    EXPECT_EQ(t.generation(), k_sets);
}

// Holds: trigger: Futures outlive it; one whose generation never ends has a broken promise.
TEST_P(trigger_test, breaks_the_promise_of_a_generation_that_never_ends) {
    quern::shared_future<void> last;
    {
        quern::trigger t;
        last = t.get_future();
    }
    EXPECT_THROW(last.get(), std::future_error);
}

// Holds: trigger: It may be destroyed as soon as every synchronize() has returned and every set()
//     but the one that let it.
TEST_P(trigger_test, is_destroyed_right_after_the_generation_has_ended) {
    const int rounds = k_sanitized ? 1'000 : 10'000;
    for (int i = 0; i < rounds; ++i) {
        auto t = std::make_unique<quern::trigger>();
        const bool by_future = i % 2 == 0;
        const auto end = by_future ? t->get_future() : quern::shared_future<void>();
        all.task([&in = *t] { in.set(); });
        if (by_future) {
            end.wait();
        } else {
            t->synchronize(1);
        }
    }
}

// Holds: and_gate: When every input has been set, in any order, the generation ends.
// Holds: and_gate: set() returns whether it was the last of this generation.
// Holds: and_gate: get_future() is ready, and synchronize(n) returns, when the generation has
//     ended; generation() counts from 0.
// Holds: and_gate: What precedes each set() happens before what the generation's end wakes.
TEST_P(trigger_test, and_gate_ends_a_generation_when_each_input_is_set_in_any_order) {
    constexpr std::size_t k_inputs = 40;
    quern::and_gate gate(k_inputs);
    for (int generation = 0; generation < 20; ++generation) {
        const auto complete = gate.get_future();
        std::vector<int> done(k_inputs, 0);  // plain: the gate orders the accesses
        std::atomic<int> last{0};
        for (std::size_t i = 1; i < k_inputs; ++i) {
            all.task([&, i] {
                const std::size_t input = i * 7 % k_inputs;
                done[input] = 1;
                last += gate.set(input) ? 1 : 0;
            });
        }
        all.settle();
        EXPECT_FALSE(complete.is_ready());
        EXPECT_EQ(gate.generation(), generation);
        done[0] = 1;
        all.thread([&] { last += gate.set(0) ? 1 : 0; });
        complete.wait();
        gate.synchronize(generation + 1);
        for (const int d : done) {
            EXPECT_EQ(d, 1);
        }
        all.finish();
        EXPECT_EQ(last.load(), 1);
    }
}

// Holds: and_gate: When the generation has ended all inputs may be set again. **Differs** from
//     HPX's: generations advance by themselves.
TEST_P(trigger_test, and_gate_loses_no_generation_when_they_follow_at_once) {
    constexpr std::size_t k_inputs = 4;
    const std::int64_t generations = k_sanitized ? 200 : 2'000;
    quern::and_gate gate(k_inputs);
    for (std::size_t input = 0; input < k_inputs; ++input) {
        all.task([&, input] {
            for (std::int64_t g = 0; g < generations; ++g) {
                gate.synchronize(g);
                gate.set(input);
            }
        });
    }
    gate.synchronize(generations);
    all.finish();
    EXPECT_EQ(gate.generation(), generations);
}

// Holds: and_gate: It may be destroyed as a trigger may.
TEST_P(trigger_test, and_gate_is_destroyed_right_after_the_generation_has_ended) {
    const int rounds = k_sanitized ? 1'000 : 10'000;
    for (int i = 0; i < rounds; ++i) {
        auto gate = std::make_unique<quern::and_gate>(1);
        const bool by_future = i % 2 == 0;
        const auto end = by_future ? gate->get_future() : quern::shared_future<void>();
        all.task([&in = *gate] { in.set(0); });
        if (by_future) {
            end.wait();
        } else {
            gate->synchronize(1);
        }
    }
}

// Holds: and_gate: A gate without inputs is std::invalid_argument; inputs() says how many it has.
// Holds: and_gate: set() of an input that there is not throws std::out_of_range, a second time in a
//     generation std::invalid_argument; neither changes anything.
TEST(trigger_test_of_limits, wrong_inputs_of_an_and_gate_are_errors_that_change_nothing) {
    EXPECT_THROW(quern::and_gate(0), std::invalid_argument);
    quern::and_gate gate(2);
    EXPECT_EQ(gate.inputs(), 2U);
    EXPECT_THROW(gate.set(2), std::out_of_range);
    EXPECT_FALSE(gate.set(1));
    EXPECT_THROW(gate.set(1), std::invalid_argument);
    EXPECT_EQ(gate.generation(), 0);
    EXPECT_TRUE(gate.set(0));
    EXPECT_FALSE(gate.set(1));
    EXPECT_EQ(gate.generation(), 1);
}

}  // namespace
