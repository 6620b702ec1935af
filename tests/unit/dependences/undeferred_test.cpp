// SPDX-License-Identifier: BSL-1.0
// Tasks with the attribute deferred = false: how long spawn() waits for them.
#include <quern/dependences/domain.hpp>
#include <quern/dependences/release.hpp>
#include <quern/dependences/spawn.hpp>

#include "unit/dependences/gates.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace {

using quern::domain;
using quern::in;
using quern::inout;
using quern::out;
using quern_test::opens;

class undeferred : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(undeferred);

// Holds: domain: False: spawn() returns when the function has returned; with `wait`,
//     after its children too.
TEST_P(undeferred, spawn_returns_after_the_function_of_an_undeferred_task) {
    inside([] {
        domain work;
        int value = 0;
        work.spawn(out(value), [](int& v) {
            quern::this_task::yield();
            v = 1;
        });
        work.spawn({.deferred = false}, inout(value), [](int& v) {
            quern::this_task::yield();
            v += 2;
        });
        EXPECT_EQ(value, 3);
        work.spawn({.deferred = false}, [] { throw std::runtime_error("thrown"); });
        EXPECT_THROW(work.taskwait(), std::runtime_error);
    });
    domain outside(rt.default_pool());
    int value = 0;
    outside.spawn({.deferred = false}, out(value), [](int& v) { v = 4; });
    EXPECT_EQ(value, 4);
}

/// An undeferred task in `work` whose child ends after spawn() has returned. False: it has not.
bool continues_before_the_child(domain& work) {
    std::atomic<bool> has_continued{false};
    bool was_open = false;
    int value = 0;
    work.spawn({.deferred = false}, inout(value), [&](int& v) {
        v = 1;
        quern::spawn(inout(v), [&](int& w) {
            was_open = opens(has_continued);
            w += 2;
        });
    });
    has_continued = true;
    int seen = 0;
    work.spawn(in(value), [&seen](const int& v) { seen = v; });
    work.taskwait();
    EXPECT_EQ(seen, 3);
    return was_open;
}

// Holds: domain: False: spawn() returns when...
TEST_P(undeferred, spawn_of_an_undeferred_task_does_not_wait_for_its_children) {
    inside([] {
        domain work;
        EXPECT_TRUE(continues_before_the_child(work));
    });
    domain outside(rt.default_pool());
    EXPECT_TRUE(continues_before_the_child(outside));
}

// Holds: domain: False: spawn() returns when...
TEST_P(undeferred, an_undeferred_task_that_waits_is_complete_when_spawn_returns) {
    inside([] {
        domain work;
        int value = 0;
        work.spawn({.deferred = false, .wait = true}, inout(value), [](int& v) {
            quern::spawn(inout(v), [](int& w) {
                for (int i = 0; i < 10; ++i) {
                    quern::this_task::yield();
                }
                w = 1;
            });
        });
        EXPECT_EQ(value, 1);
        work.taskwait();
    });
}

// Holds: domain: The task is complete when its...
TEST_P(undeferred, an_undeferred_task_that_is_held_keeps_its_creator) {
    inside([] {
        domain work;
        int value = 0;
        std::jthread device;
        work.spawn({.deferred = false}, out(value), [&](int& v) {
            device = std::jthread([&v, hold = quern::this_task::hold_accesses()]() mutable {
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
                v = 42;
                hold.drop();
            });
        });
        EXPECT_EQ(value, 42);
        work.taskwait();
    });
}

}  // namespace
