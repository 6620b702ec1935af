// SPDX-License-Identifier: BSL-1.0
// Objects that end too early: one that is destroyed while anything waits in it aborts the program
// with words, and one side of a channel that leaves early ends the other side too.
#include <quern/sync/and_gate.hpp>
#include <quern/sync/barrier.hpp>
#include <quern/sync/call_once.hpp>
#include <quern/sync/channel.hpp>
#include <quern/sync/condition_variable.hpp>
#include <quern/sync/condition_variable_any.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/full_empty.hpp>
#include <quern/sync/latch.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/sync/recursive_mutex.hpp>
#include <quern/sync/semaphore.hpp>
#include <quern/sync/shared_mutex.hpp>
#include <quern/sync/sliding_semaphore.hpp>
#include <quern/sync/trigger.hpp>
#include <quern/task/async.hpp>
#include <quern/task/coroutine.hpp>
#include <quern/task/task_group.hpp>

#include "crew.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>

#if defined(__SANITIZE_ADDRESS__)
// An abandoned task keeps its memory: the subject of one test.
extern "C" const char* __lsan_default_suppressions() {  // NOLINT: the sanitizer's name
    return "leak:early_end_test.cpp\n";
}
#endif

namespace {

using quern_test::crew;

class early_end_test : public quern_test::on_workers {};
QUERN_ON_1_2_8_WORKERS(early_end_test);

/// Lets a task wait in the object, and destroys that.
template <class T, class Wait>
void end_while_a_task_waits(std::unique_ptr<T> thing, Wait wait) {
    crew all(1);
    T* const awaited = thing.get();
    all.task([&] { wait(*awaited); });
    all.settle();
    thing.reset();
    all.finish();
}

// Holds: event: It, as every object in which tasks wait, aborts the program with its kind when it is
//     destroyed while anything waits in it. **Differs**: undefined there.
TEST(early_end_death_test, of_an_object_in_which_a_task_waits) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto waits = [](auto& of) { of.wait(); };
    const auto synchronizes = [](auto& of) { of.synchronize(1); };
    const auto reads = [](auto& of) { of.read_fe(); };
    EXPECT_DEATH(end_while_a_task_waits(std::make_unique<quern::event>(), waits),
                 "an event is destroyed while a task waits in it");
    EXPECT_DEATH(end_while_a_task_waits(std::make_unique<quern::latch>(1), waits),
                 "a latch is destroyed while a task waits in it");
    EXPECT_DEATH(end_while_a_task_waits(std::make_unique<quern::barrier<>>(2),
                                        [](auto& of) { of.arrive_and_wait(); }),
                 "a barrier is destroyed while a task waits in it");
    EXPECT_DEATH(end_while_a_task_waits(std::make_unique<quern::counting_semaphore<>>(0),
                                        [](auto& of) { of.acquire(); }),
                 "a counting_semaphore is destroyed while a task waits in it");
    EXPECT_DEATH(end_while_a_task_waits(std::make_unique<quern::sliding_semaphore>(0),
                                        [](auto& of) { of.wait(1); }),
                 "a sliding_semaphore is destroyed while a task waits in it");
    EXPECT_DEATH(end_while_a_task_waits(std::make_unique<quern::trigger>(), synchronizes),
                 "a trigger is destroyed while a task waits in it");
    EXPECT_DEATH(end_while_a_task_waits(std::make_unique<quern::and_gate>(1), synchronizes),
                 "an and_gate is destroyed while a task waits in it");
    EXPECT_DEATH(end_while_a_task_waits(std::make_unique<quern::full_empty<int>>(), reads),
                 "a full_empty is destroyed while a task waits in it");
    EXPECT_DEATH(end_while_a_task_waits(std::make_unique<quern::channel<int>>(),
                                        [](auto& of) { of.receive(); }),
                 "a channel \\(to receive\\) is destroyed while a task waits in it");
    EXPECT_DEATH(end_while_a_task_waits(std::make_unique<quern::channel<int>>(1),
                                        [](auto& of) {
                                            of.send(1);
                                            of.send(2);
                                        }),
                 "a channel \\(to send\\) is destroyed while a task waits in it");
}

/// Lets a second task wait for a lock that the first one holds.
template <class Mutex>
void end_while_a_task_waits_for_the_lock() {
    auto m = std::make_unique<Mutex>();
    Mutex* const awaited = m.get();
    crew all(1);
    quern::event never;
    all.task([&] {
        awaited->lock();
        all.task([&] { awaited->lock(); });
        never.wait();
    });
    all.settle();
    m.reset();
}

TEST(early_end_death_test, of_a_mutex_for_which_a_task_waits) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(end_while_a_task_waits_for_the_lock<quern::mutex>(),
                 "a mutex is destroyed while a task waits in it");
    EXPECT_DEATH(end_while_a_task_waits_for_the_lock<quern::recursive_mutex>(),
                 "a recursive_mutex is destroyed while a task waits in it");
    EXPECT_DEATH(end_while_a_task_waits_for_the_lock<quern::shared_mutex>(),
                 "a shared_mutex is destroyed while a task waits in it");
    const auto end_a_flag = [] {
        auto flag = std::make_unique<quern::once_flag>();
        quern::once_flag* const awaited = flag.get();
        crew all(1);
        quern::event never;
        all.task([&] { quern::call_once(*awaited, [&] { never.wait(); }); });
        all.task([&] { quern::call_once(*awaited, [] {}); });
        all.settle();
        flag.reset();
    };
    EXPECT_DEATH(end_a_flag(), "a once_flag is destroyed while a task waits in it");
}

template <class Condition>
void end_while_a_task_waits_for_notice() {
    quern::mutex m;
    end_while_a_task_waits(std::make_unique<Condition>(), [&m](auto& of) {
        std::unique_lock lock(m);
        of.wait(lock);
    });
}

TEST(early_end_death_test, of_a_condition_variable_in_which_a_task_waits) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(end_while_a_task_waits_for_notice<quern::condition_variable>(),
                 "a condition_variable is destroyed while a task waits in it");
    EXPECT_DEATH(end_while_a_task_waits_for_notice<quern::condition_variable_any>(),
                 "a condition_variable_any is destroyed while a task waits in it");
}

TEST(early_end_death_test, says_what_waits) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto end_before_a_named_task = [] {
        crew all(1);
        auto never = std::make_unique<quern::event>();
        quern::post({.name = "reader", .pool = &all.runtime().default_pool().get()},
                    [&never] { never->wait(); });
        all.settle();
        never.reset();
    };
    EXPECT_DEATH(end_before_a_named_task(), "while a task waits in it: 'reader'");
    const auto end_before_a_coroutine = [] {
        crew all(1);
        auto never = std::make_unique<quern::event>();
        const auto wait = [](quern::event& of) -> quern::task<> { co_await of.co_wait(); };
        const auto left = quern::start(all.runtime(), wait(*never));
        all.settle();
        never.reset();
    };
    EXPECT_DEATH(end_before_a_coroutine(), "while a coroutine waits in it");
}

// Holds: event: It, as every such object, may be destroyed while only tasks that the end of their
//     runtime has abandoned wait in it.
TEST(early_end_of_a_runtime_test, of_an_object_with_abandoned_waiters_is_no_mistake) {
    std::optional<quern::event> never(std::in_place);
    std::optional<quern::channel<int>> empty(std::in_place);
    {
        quern::runtime rt(quern::runtime_options::with_workers(2));
        quern::post({.pool = &rt.default_pool().get()}, [&never] { never->wait(); });
        const auto wait = [](quern::channel<int>& of) -> quern::task<> {
            co_await of.co_receive();
        };
        const auto left = quern::start(rt, wait(*empty));
        quern::async(rt, [] {}).get();
    }
    never.reset();
    empty.reset();
}

/// A sender of 100 numbers and a receiver that throws at the 20th. Returns how many were sent.
template <class Receive>
int end_the_receiver_early(std::size_t capacity, Receive receive) {
    int sent = 0;
    quern::channel<int> numbers(capacity);
    quern::task_group sender;
    sender.run([&] {
        const quern::closing at_end(numbers);
        for (; sent < 100; ++sent) {
            numbers.send(sent);
        }
    });
    receive(numbers);
    EXPECT_THROW(sender.wait(), quern::channel_closed);
    return sent;
}

// Holds: channel: A loop over closing() that is left early closes the channel, so that its sender
//     ends.
TEST_P(early_end_test, of_a_receiver_ends_the_sender) {
    all.task([] {
        const int sent = end_the_receiver_early(8, [](quern::channel<int>& numbers) {
            const auto receive = [&numbers] {
                for (const int number : quern::closing(numbers)) {
                    if (number == 20) {
                        throw std::runtime_error("bad number");
                    }
                }
            };
            EXPECT_THROW(receive(), std::runtime_error);
        });
        EXPECT_GE(sent, 20);
        EXPECT_LE(sent, 29);
        end_the_receiver_early(1, [](quern::channel<int>& numbers) {
            for (const int number : quern::closing(numbers)) {
                if (number == 3) {
                    break;
                }
            }
        });
    });
}

// Holds: channel: closing() of a sender that throws ends the receiver, which gets what was sent.
TEST_P(early_end_test, of_a_sender_ends_the_receiver) {
    all.task([] {
        quern::channel<int> numbers(4);
        quern::task_group sender;
        sender.run([&] {
            const quern::closing at_end(numbers);
            for (int i = 0;; ++i) {
                if (i == 10) {
                    throw std::runtime_error("no more");
                }
                numbers.send(i);
            }
        });
        int sum = 0;
        for (const int number : quern::closing(numbers)) {
            sum += number;
        }
        EXPECT_EQ(sum, 45);
        EXPECT_THROW(sender.wait(), std::runtime_error);
    });
}

quern::task<long> add_up(quern::channel<int>& numbers) {
    const quern::closing at_end(numbers);
    long sum = 0;
    while (const auto number = co_await numbers.co_receive()) {
        if (*number == 10) {
            throw std::runtime_error("bad number");
        }
        sum += *number;
    }
    co_return sum;
}

// Holds: channel: A task that has learned that it is closed may destroy it, even if close() has not
//     returned.
TEST_P(early_end_test, of_a_coroutine_lets_the_sender_destroy_the_channel) {
    for (int round = 0; round < (quern_test::k_sanitized ? 30 : 200); ++round) {
        auto numbers = std::make_unique<quern::channel<int>>(2);
        quern::future<long> sum = quern::start(all.runtime(), add_up(*numbers));
        const auto send = [&numbers] {
            for (int i = 0;; ++i) {
                numbers->send(i);
            }
        };
        EXPECT_THROW(send(), quern::channel_closed);
        numbers.reset();
        EXPECT_THROW(sum.get(), std::runtime_error);
    }
}

}  // namespace
