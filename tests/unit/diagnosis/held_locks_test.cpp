// SPDX-License-Identifier: BSL-1.0
// Messages of a build with assertions about tasks that hold locks across a wait, or beyond their
// end.
#include <quern/quern.hpp>

#include "hanging_child.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <string>

namespace {

using quern_test::hanging_child;

/// The output of a process in which a task does that, up to its end. It has one worker, so that
/// what the task awaits has not ended before.
template <class F>
std::string said_by(F&& f) {
    hanging_child child([&f] {
        ::setenv("QUERN_THREADS", "1", 1);
        quern::async({.name = "clerk"}, f).get();
        std::fputs("ended", stderr);
    });
    return child.says("ended");
}

void wait_for_another_task() {
    quern::async({.stack = quern::stack_class::large}, [] { quern::this_task::yield(); }).get();
}

#if !defined(NDEBUG)
// Holds: ignore_held_locks: A task that waits for something else while it holds a lock is told of
//     on stderr, with the calls that led there.
TEST(held_locks, are_told_when_their_task_waits_for_something_else) {
    const std::string said = said_by([] {
        quern::mutex m;
        const std::scoped_lock lock(m);
        wait_for_another_task();
    });
    EXPECT_NE(said.find("quern: task 'clerk' waits for a future while it holds 1 lock"),
              std::string::npos);
    EXPECT_NE(said.find("wait_for_another_task"), std::string::npos) << "the calls";
}

// Holds: ignore_held_locks: The message has the number of locks: of mutexes, recursive ones each
//     time, shared ones for readers too.
TEST(held_locks, are_counted) {
    const std::string said = said_by([] {
        quern::recursive_mutex recursive;
        quern::shared_mutex shared;
        const std::scoped_lock twice(recursive, recursive);
        const std::shared_lock reader(shared);
        quern::this_task::yield();
    });
    EXPECT_NE(said.find("while it holds 3 locks"), std::string::npos);
}

// Holds: ignore_held_locks: A task that ends and leaves something locked is told of.
TEST(held_locks, are_told_when_their_task_ends) {
    hanging_child child([] {  // the result is there before the task has ended
        static quern::mutex m;
        quern::post({.name = "clerk"}, [] { m.lock(); });
        for (;;) {
            ::pause();
        }
    });
    const std::string said = child.says("left something locked");
    EXPECT_NE(said.find("quern: task 'clerk' has ended and left"), std::string::npos);
}
#endif

// Holds: ignore_held_locks: Waiting for another lock while holding one is not told of.
TEST(held_locks, may_be_held_while_another_lock_is_waited_for) {
    const std::string said = said_by([] {
        quern::mutex outer;
        quern::mutex inner;
        quern::event holds;
        auto other = quern::async({.stack = quern::stack_class::large}, [&] {
            const std::scoped_lock lock(inner);
            holds.set();
            const quern::ignore_held_locks on_purpose;
            quern::this_task::yield();
        });
        holds.wait();
        const std::scoped_lock lock(outer, inner);
    });
    EXPECT_EQ(said, "ended");
}

// Holds: ignore_held_locks: Waiting for a notice of a condition variable with its mutex is not told
//     of.
TEST(held_locks, are_given_up_while_a_notice_is_waited_for) {
    const std::string said = said_by([] {
        quern::mutex m;
        quern::condition_variable changed;
        bool ready = false;
        auto other = quern::async({.stack = quern::stack_class::large}, [&] {
            const std::scoped_lock lock(m);
            ready = true;
            changed.notify_one();
        });
        std::unique_lock lock(m);
        changed.wait(lock, [&ready] { return ready; });
        lock.unlock();
        other.get();
    });
    EXPECT_EQ(said, "ended");
}

// Holds: ignore_held_locks: While an ignore_held_locks lives, locks that the task has locked before
//     are not spoken of.
TEST(held_locks, are_not_spoken_of_when_that_is_meant) {
    const std::string said = said_by([] {
        quern::timed_mutex m;
        const std::unique_lock lock(m, std::chrono::seconds(1));
        const quern::ignore_held_locks on_purpose;
        wait_for_another_task();
    });
    EXPECT_EQ(said, "ended");
}

// Holds: ignore_held_locks: Waiting inside the function of a call_once is not told of.
TEST(held_locks, of_call_once_are_not_spoken_of) {
    const std::string said = said_by([] {
        quern::once_flag once;
        quern::call_once(once, wait_for_another_task);
    });
    EXPECT_EQ(said, "ended");
}

}  // namespace
