// SPDX-License-Identifier: BSL-1.0
// What a task knows about itself and does with itself, and the same calls on threads outside.
#include <quern/scheduler/detail/fresh_stack.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/this_task.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <chrono>
#include <future>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace this_task = quern::this_task;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

class this_task_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(this_task_test);

// Holds: this_task: sleep_for() and sleep_until() wait at least until the time, by any clock, and
//     not at all for a time that has passed.
TEST_P(this_task_test, sleeps_at_least_as_long_as_it_was_told) {
    inside([] {
        for (const auto time : {0us, 1us, 100us, 3000us}) {
            const auto start = clock::now();
            this_task::sleep_for(time);
            EXPECT_GE(clock::now() - start, time);
        }
        const auto when = std::chrono::system_clock::now() + 3ms;
        this_task::sleep_until(when);
        EXPECT_GE(std::chrono::system_clock::now(), when);
        this_task::sleep_until(clock::now() - 1h);
        this_task::sleep_for(-1h);
    });
}

// Holds: this_task: sleep_for() and sleep_until() leave the worker to others.
TEST_P(this_task_test, leaves_its_worker_to_others_while_it_sleeps) {
    constexpr std::size_t k_tasks = 500;
    std::vector<quern::future<void>> all;
    const auto start = clock::now();
    for (std::size_t i = 0; i < k_tasks; ++i) {
        all.push_back(quern::async(rt, [] { this_task::sleep_for(20ms); }));
    }
    for (auto& f : all) {
        f.get();
    }
    EXPECT_LT(clock::now() - start, k_tasks * 20ms / 4);
}

// Holds: this_task: yield() lets everything run that is ready, of low priority too.
TEST_P(this_task_test, lets_others_run_when_it_yields) {
    inside([] {
        std::atomic<bool> ran{false};
        auto other = quern::async([&ran] { ran.store(true); });
        while (!ran.load()) {
            this_task::yield();
        }
        other.get();
    });
}

// Holds: this_task: yield() lets everything run...
TEST_P(this_task_test, lets_low_priority_run_too_when_it_yields) {
    inside([] {
        std::atomic<bool> ran{false};
        quern::post({.urgency = quern::priority::low}, [&ran] { ran.store(true); });
        while (!ran.load()) {
            this_task::yield();
        }
    });
}

// Holds: this_task: Name, id and priority are its own again after it has run what it waited for.
TEST_P(this_task_test, is_itself_again_after_running_what_it_waited_for) {
    const quern::task_attributes how{
        .name = "outer", .urgency = quern::priority::high, .pool = &rt.default_pool().get()};
    quern::async(how, [] {
        const auto own = this_task::id();
        quern::task_group group;
        group.run({.name = "inner"}, [own] {
            EXPECT_EQ(this_task::name(), std::string("inner"));
            EXPECT_NE(this_task::id(), own);
        });
        group.wait();
        quern::async([own] {
            EXPECT_EQ(this_task::name(), nullptr);
            EXPECT_NE(this_task::id(), own);
        }).get();
        EXPECT_EQ(this_task::id(), own);
        EXPECT_EQ(this_task::name(), std::string("outer"));
        EXPECT_EQ(this_task::get_priority(), quern::priority::high);
    }).get();
}

// Holds: this_task: suspend() leaves the worker and then hands the task over; it resumes when any
//     thread calls resume().
TEST_P(this_task_test, goes_on_when_somebody_resumes_it) {
    std::vector<std::promise<quern::suspended_task>> handed(100);
    for (auto& place : handed) {
        std::thread resumer([&place] { place.get_future().get().resume(); });
        inside([&place] {
            this_task::suspend(
                [&place](quern::suspended_task me) { place.set_value(std::move(me)); });
        });
        resumer.join();
    }
    rt.default_pool().get().wait_until_quiet();  // no hand-over is still ending
}

// Holds: this_task: A handle that is dropped resumes its task.
TEST_P(this_task_test, goes_on_when_its_handle_is_dropped) {
    inside([] { this_task::suspend([](const quern::suspended_task& me) { EXPECT_TRUE(me); }); });
}

// Holds: this_task: is_task(): whether the caller is a task that can be suspended: not so in a
//     blocking_region.
TEST_P(this_task_test, says_whether_the_caller_is_a_task) {
    EXPECT_FALSE(this_task::is_task());
    EXPECT_TRUE(inside([] { return this_task::is_task(); }));
}

// Holds: this_task: A handle can be moved; a second resume() does nothing.
TEST_P(this_task_test, is_resumed_once_by_a_handle_that_was_moved) {
    inside([] {
        for (int i = 0; i < 50; ++i) {
            int handed = 0;
            this_task::suspend([&handed](quern::suspended_task me) {
                ++handed;
                quern::suspended_task other(std::move(me));
                quern::suspended_task third = std::move(other);
                EXPECT_FALSE(me || other);  // NOLINT(bugprone-use-after-move): the test's subject
                EXPECT_TRUE(third);
                third.resume();
                EXPECT_FALSE(third);
                third.resume();  // no effect: the task may have ended
            });
            EXPECT_EQ(handed, 1);
        }
    });
}

// Holds: this_task: id(): a number that no other task has or had, and that stays.
TEST_P(this_task_test, has_an_id_of_its_own_that_stays) {
    std::mutex guard;
    std::set<std::uint64_t> seen;
    std::vector<quern::future<void>> all;
    constexpr std::size_t k_tasks = 200;
    for (std::size_t i = 0; i < k_tasks; ++i) {
        all.push_back(quern::async(rt, [&] {
            const auto id = this_task::id();
            EXPECT_NE(id, 0U);
            this_task::yield();
            EXPECT_EQ(this_task::id(), id);
            const std::scoped_lock lock(guard);
            seen.insert(id);
        }));
    }
    for (auto& f : all) {
        f.get();
    }
    EXPECT_EQ(seen.size(), k_tasks);
}

// Holds: this_task: id(): a number that...
TEST_P(this_task_test, keeps_its_id_and_name_on_a_fresh_stack) {
    quern::async({.name = "deep", .pool = &rt.default_pool().get()}, [] {
        struct {
            std::uint64_t id = 0;
            std::string name;
        } seen;
        quern::detail::call_on_fresh_stack(
            [](void* p) {
                auto& s = *static_cast<decltype(seen)*>(p);
                s.id = this_task::id();
                s.name = this_task::name();
            },
            &seen);
        EXPECT_EQ(this_task::id(), seen.id);
        EXPECT_EQ(seen.name, "deep");
    }).get();
}

// Holds: task_attributes: name: what the task says of itself; null by default.
// Holds: task_attributes: urgency: a task keeps it when it has waited.
// Holds: this_task: name(): the name it was given, or null.
// Holds: this_task: get_priority(): its priority.
TEST_P(this_task_test, knows_its_name_and_priority_also_after_waiting) {
    const quern::task_attributes how{
        .name = "norm", .urgency = quern::priority::high, .pool = &rt.default_pool().get()};
    quern::async(how, [] {
        for (int i = 0; i < 2; ++i) {
            EXPECT_EQ(this_task::name(), std::string("norm"));
            EXPECT_EQ(this_task::get_priority(), quern::priority::high);
            this_task::yield();
        }
    }).get();
    inside([] {
        EXPECT_EQ(this_task::name(), nullptr);
        EXPECT_EQ(this_task::get_priority(), quern::priority::normal);
    });
}

std::size_t left_below(int frames) {
    volatile char frame[512];
    frame[0] = static_cast<char>(frames);
    return frames == 0 ? this_task::stack_left() : left_below(frames - 1) - (frame[0] & 0);
}

// Holds: this_task: stack_left(): bytes of stack below the caller.
TEST_P(this_task_test, sees_its_stack_shrink) {
    inside([] {
        const std::size_t before = this_task::stack_left();
        EXPECT_GT(before, 16U * 1024);
        EXPECT_LE(left_below(8) + 8 * 512, before);
    });
}

// Holds: this_task: is_task(): whether the caller...
// Holds: this_task: Outside: yield and sleep as a thread's, id 0, no name, priority normal, the
//     largest stack.
// Holds: this_task: suspend() outside a task throws std::logic_error.
TEST(this_task_outside, behaves_as_a_thread) {
    EXPECT_FALSE(this_task::is_task());
    EXPECT_EQ(this_task::id(), 0U);
    EXPECT_EQ(this_task::name(), nullptr);
    EXPECT_EQ(this_task::get_priority(), quern::priority::normal);
    EXPECT_EQ(this_task::stack_left(), std::numeric_limits<std::size_t>::max());
    this_task::yield();
    const auto start = clock::now();
    this_task::sleep_for(1ms);
    EXPECT_GE(clock::now() - start, 1ms);
    EXPECT_THROW(this_task::suspend([](quern::suspended_task) {}), std::logic_error);
}

}  // namespace
