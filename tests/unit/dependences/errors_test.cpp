// SPDX-License-Identifier: BSL-1.0
// domain: exceptions and cancellation: what is dropped, who gets the error, what comes afterwards.
#include <quern/dependences/domain.hpp>
#include <quern/dependences/spawn.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using quern::domain;
using quern::in;
using quern::inout;
using quern::on;
using quern::out;

class domain_errors : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(domain_errors);

// Holds: domain: taskwait() throws the first exception; tasks that have not begun are dropped; then
//     the domain can be used again.
TEST_P(domain_errors, the_first_exception_wins_and_successors_are_dropped) {
    inside([] {
        domain work;
        int value = 0;
        for (int round = 0; round < 20; ++round) {
            std::atomic<int> later{0};
            work.spawn(inout(value), [](int&) { throw std::runtime_error("first"); });
            for (int i = 0; i < 10; ++i) {
                work.spawn(inout(value), [&later] { ++later; });
            }
            try {
                work.taskwait();
                FAIL();
            } catch (const std::runtime_error& error) {
                EXPECT_STREQ(error.what(), "first");
            }
            EXPECT_EQ(later, 0);
            EXPECT_FALSE(work.is_cancelled());
            work.spawn(out(value), [round](int& v) { v = round; });
            work.taskwait();
            EXPECT_EQ(value, round);
        }
    });
}

// Holds: domain: The functions of dropped tasks are destroyed.
TEST_P(domain_errors, functions_of_dropped_tasks_are_destroyed) {
    inside([] {
        const auto kept = std::make_shared<int>(0);
        domain work;
        int value = 0;
        work.spawn(out(value), [] { throw 1; });
        for (int i = 0; i < 10; ++i) {
            work.spawn(inout(value), [kept] {});
        }
        EXPECT_THROW(work.taskwait(), int);
        EXPECT_EQ(kept.use_count(), 1);
    });
}

// Holds: domain: cancel() drops tasks that have not begun; taskwait() then throws task_cancelled.
TEST_P(domain_errors, cancel_drops_what_has_not_begun) {
    inside([] {
        domain work;
        int value = 0;
        bool was_asked = false;
        std::atomic<int> later{0};
        std::atomic<bool> has_begun{false};
        work.spawn(out(value), [&] {
            has_begun = true;
            while (!quern::this_task::stop_requested()) {
                quern::this_task::yield();
            }
            was_asked = true;
        });
        for (int i = 0; i < 10; ++i) {
            work.spawn(inout(value), [&later] { ++later; });
        }
        while (!has_begun) {
            quern::this_task::yield();
        }
        work.cancel();
        EXPECT_TRUE(work.is_cancelled());
        EXPECT_THROW(work.taskwait(), quern::task_cancelled);
        EXPECT_TRUE(was_asked);
        EXPECT_EQ(later, 0);
        work.taskwait();
    });
}

// Holds: domain: taskwait(on()) of a domain that has failed waits for all and throws.
TEST_P(domain_errors, waiting_for_data_of_a_failed_domain_throws) {
    inside([] {
        domain work;
        int value = 0;
        work.spawn(out(value), [] { throw std::runtime_error("first"); });
        work.spawn(inout(value), [] {});
        EXPECT_THROW(work.taskwait(on(value)), std::runtime_error);
        work.taskwait(on(value));
    });
}

// Holds: domain: A future holds the exception of its task, or task_cancelled if it was dropped.
TEST_P(domain_errors, futures_hold_errors) {
    inside([] {
        domain work;
        int value = 0;
        auto failed = work.async(out(value), [](int&) -> int { throw std::runtime_error("mine"); });
        auto dropped = work.async({.name = "late"}, in(value), [](const int& v) { return v; });
        EXPECT_THROW(failed.get(), std::runtime_error);
        try {
            dropped.get();
            FAIL();
        } catch (const quern::task_cancelled& error) {
            EXPECT_STREQ(error.what(), "quern: the task 'late' was cancelled");
        }
        EXPECT_THROW(work.taskwait(), std::runtime_error);
    });
}

struct reported {
    static inline std::mutex lock;
    static inline std::vector<std::string> all;

    reported() {
        all.clear();
        before = quern::set_exception_handler(
            [](std::exception_ptr error, quern::exception_origin where) noexcept {
                const std::scoped_lock guard(lock);
                try {
                    std::rethrow_exception(error);
                } catch (const std::exception& e) {
                    all.push_back(std::to_string(static_cast<int>(where)) + " " + e.what());
                }
            });
    }
    ~reported() { quern::set_exception_handler(before); }
    quern::exception_handler before;
};

// Holds: domain: An exception that no taskwait() has thrown goes to the handler once, when the
//     domain is destroyed.
TEST_P(domain_errors, an_unobserved_error_is_reported_once) {
    inside([] {
        const reported reports;
        {
            domain work;
            int value = 0;
            const auto f = work.async(out(value), [] { throw std::runtime_error("lost"); });
            work.spawn(in(value), [] {});
        }
        EXPECT_EQ(reported::all, std::vector<std::string>{"1 lost"});
    });
}

// Holds: domain: The exception of a child goes to the parent's taskwait().
TEST_P(domain_errors, the_parent_may_catch_what_a_child_throws) {
    inside([] {
        domain work;
        int value = 0;
        work.spawn(inout(value), [](int& v) {
            quern::spawn(inout(v), [] { throw std::runtime_error("child"); });
            quern::spawn(inout(v), [](int& dropped) { dropped = 99; });
            EXPECT_THROW(quern::taskwait(), std::runtime_error);
            quern::spawn(inout(v), [](int& done) { done = 1; });
        });
        work.spawn(inout(value), [](int& v) { EXPECT_EQ(v, 1); });
        work.taskwait();
        EXPECT_EQ(value, 1);
    });
}

// Holds: domain: Once the parent's function has returned, the exception of a child goes to the
//     parent's domain, at any depth, before a successor begins.
TEST_P(domain_errors, the_error_of_a_child_goes_up_when_its_parent_has_returned) {
    inside([] {
        for (int round = 0; round < quern_test::scaled(200, 50); ++round) {
            domain work;
            int value = 0;
            std::atomic<int> later{0};
            auto parent = work.async(inout(value), [](int& v) {
                quern::spawn(inout(v), [](int& w) {
                    quern::spawn(inout(w), [] {
                        quern::this_task::yield();
                        throw std::runtime_error("grandchild");
                    });
                });
                return 1;
            });
            work.spawn(inout(value), [&later] { ++later; });
            EXPECT_THROW(work.taskwait(), std::runtime_error);
            EXPECT_EQ(later, 0);
            EXPECT_THROW(parent.get(), std::runtime_error);
        }
    });
}

// Holds: domain: cancel() applies to children too.
TEST_P(domain_errors, cancel_applies_to_children) {
    inside([] {
        domain work;
        int value = 0;
        std::atomic<int> ran{0};
        std::atomic<bool> is_open{false};
        work.spawn(inout(value), [&](int& v) {
            while (!is_open) {
                quern::this_task::yield();
            }
            quern::spawn(inout(v), [&ran] { ++ran; });
            EXPECT_THROW(quern::taskwait(), quern::task_cancelled);
        });
        work.spawn([&] {
            work.cancel();
            is_open = true;
        });
        EXPECT_THROW(work.taskwait(), quern::task_cancelled);
        EXPECT_EQ(ran, 0);
    });
}

}  // namespace
