// SPDX-License-Identifier: BSL-1.0
// quern::jthread: what it adds to quern::thread; one case per sentence of [thread.jthread.class].
#include <quern/task/jthread.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <stop_token>
#include <type_traits>
#include <vector>

namespace {

using quern::jthread;

static_assert(!std::is_copy_constructible_v<jthread> && !std::is_copy_assignable_v<jthread>);
static_assert(std::is_nothrow_move_constructible_v<jthread>);
static_assert(std::is_nothrow_move_assignable_v<jthread>);
static_assert(std::is_same_v<jthread::id, quern::thread::id>);

void wait_for_stop(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        quern::this_task::yield();
    }
}

class jthread_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(jthread_test);

// Holds: jthread: The destructor asks for a stop and joins.
TEST_P(jthread_test, joins_when_it_is_destroyed) {
    inside([] {
        bool ran = false;
        {
            const jthread t([&ran] {
                quern::this_task::sleep_for(std::chrono::milliseconds(1));
                ran = true;
            });
        }
        EXPECT_TRUE(ran);
    });
}

// Holds: jthread: The destructor asks for...
// Holds: jthread: A function that takes a std::stop_token first gets that of this thread.
TEST_P(jthread_test, asks_its_function_to_stop_when_it_is_destroyed) {
    inside([] {
        int seen = 0;
        {
            const jthread t(
                [](std::stop_token stop, int* out) {
                    wait_for_stop(stop);
                    *out = 1;
                },
                &seen);
        }
        EXPECT_EQ(seen, 1);
    });
}

// Holds: jthread: A function that takes no std::stop_token gets its arguments alone.
TEST_P(jthread_test, gives_no_token_to_a_function_that_takes_none) {
    inside([] {
        int seen = 0;
        jthread([&seen](int value) { seen = value; }, 7).join();
        EXPECT_EQ(seen, 7);
    });
}

// Holds: jthread: this_task::stop_token() in the thread is its token, whatever its function takes.
TEST_P(jthread_test, has_its_token_as_that_of_the_task) {
    inside([] {
        quern_test::spin_gate begun;
        jthread t(
            [&begun](int) {
                EXPECT_TRUE(quern::this_task::stop_token().stop_possible());
                begun.open();
                while (!quern::this_task::stop_requested()) {
                    quern::this_task::yield();
                }
            },
            1);
        while (!begun.is_open()) {
            quern::this_task::yield();
        }
        t.request_stop();
        t.join();
        jthread given(
            [](const std::stop_token& own) { EXPECT_EQ(quern::this_task::stop_token(), own); });
    });
}

// Holds: jthread: A thread that is stopped before it has begun is run all the same.
TEST_P(jthread_test, is_run_also_when_it_was_stopped_before_it_began) {
    bool ran = false;
    inside([&ran] {
        jthread t([&ran] { ran = true; });
        t.request_stop();  // before it begins, where nothing is stolen
    });
    EXPECT_TRUE(ran);
}

// Holds: jthread: this_task::stop_token() in the thread...
TEST_P(jthread_test, hears_the_token_of_its_attributes_too) {
    inside([] {
        std::stop_source group;
        quern_test::spin_gate begun;
        jthread t({.stop = group.get_token()}, [&begun] {
            begun.open();
            while (!quern::this_task::stop_requested()) {
                quern::this_task::yield();
            }
        });
        while (!begun.is_open()) {
            quern::this_task::yield();
        }
        group.request_stop();
        t.join();
    });
}

// Holds: jthread: request_stop() gives true the first time.
TEST_P(jthread_test, asks_once) {
    inside([] {
        jthread t(wait_for_stop);
        const std::stop_token token = t.get_stop_token();
        EXPECT_FALSE(token.stop_requested());
        EXPECT_TRUE(t.request_stop());
        EXPECT_FALSE(t.request_stop());
        EXPECT_TRUE(token.stop_requested());
        t.join();
        EXPECT_FALSE(t.joinable());
    });
}

// Holds: jthread: get_stop_source() and get_stop_token() are those of the thread; callbacks are
//     called.
TEST_P(jthread_test, may_be_stopped_through_its_source) {
    inside([] {
        const jthread t(wait_for_stop);
        bool called = false;
        std::stop_source source = jthread(wait_for_stop).get_stop_source();
        EXPECT_TRUE(source.stop_requested());  // its thread has ended
        jthread other(wait_for_stop);
        source = other.get_stop_source();
        const std::stop_callback callback(other.get_stop_token(), [&called] { called = true; });
        EXPECT_TRUE(source.request_stop());
        EXPECT_TRUE(called);
        other.join();
    });
}

// Holds: jthread: Without a thread there is no stop state.
TEST_P(jthread_test, has_no_stop_state_when_it_has_no_thread) {
    jthread none;
    EXPECT_FALSE(none.joinable());
    EXPECT_FALSE(none.get_stop_source().stop_possible());
    EXPECT_FALSE(none.request_stop());
}

// Holds: jthread: An assignment to it asks for a stop and joins.
// Holds: jthread: swap exchanges threads and stop states.
TEST_P(jthread_test, stops_and_joins_what_it_had_before_an_assignment) {
    inside([] {
        std::atomic<int> ended{0};
        const auto body = [&ended](const std::stop_token& stop) {
            wait_for_stop(stop);
            ++ended;
        };
        jthread t(body);
        jthread next(body);
        const jthread::id id = next.get_id();
        t = std::move(next);
        EXPECT_EQ(ended.load(), 1);
        EXPECT_EQ(t.get_id(), id);
        jthread none;
        swap(t, none);
        EXPECT_EQ(none.get_id(), id);
        none = jthread();
        EXPECT_EQ(ended.load(), 2);
    });
}

// Holds: jthread: A detached one is neither stopped nor joined.
TEST_P(jthread_test, is_left_to_itself_when_it_is_detached) {
    quern_test::spin_gate release, ended;
    inside([&] {
        jthread t([&](const std::stop_token& stop) {
            while (!ended.is_open() && !stop.stop_requested()) {
                quern::this_task::yield();
            }
            EXPECT_FALSE(stop.stop_requested());
            release.open();
        });
        t.detach();
    });
    ended.open();
    release.pass();
}

// Holds: jthread: Very many may be there at once.
TEST_P(jthread_test, comes_in_large_numbers) {
    inside([] {
        std::atomic<int> ended{0};
        const int count = quern_test::scaled(1000, 50);  // squared: sleepers wake until their turn
        {
            std::vector<jthread> all;
            for (int i = 0; i < count; ++i) {
                all.emplace_back([&ended](const std::stop_token& stop) {
                    while (!stop.stop_requested()) {
                        quern::this_task::sleep_for(std::chrono::milliseconds(1));
                    }
                    ++ended;
                });
            }
        }
        EXPECT_EQ(ended.load(), count);
    });
}

}  // namespace
