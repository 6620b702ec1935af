// SPDX-License-Identifier: BSL-1.0
// Waits for a future with a stop token, by tasks, threads and coroutines, with and without a
// deadline: a stop before the wait, during it, and at the same time as the result.
#include <quern/base/detail/blocks.hpp>
#include <quern/scheduler/task_report.hpp>
#include <quern/task/coroutine.hpp>
#include <quern/task/jthread.hpp>
#include <quern/task/promise.hpp>

#include "unit/scheduler/on_runtime.hpp"
#include "unit/task/foreign.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <stop_token>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using quern::future;
using quern::promise;
using quern::shared_future;
using quern::task;
using quern_test::foreign;

class stopped_wait_test : public quern_test::on_runtime {
protected:
    void settle() {
        while (!rt.default_pool().get().quiet()) {
            std::this_thread::yield();
        }
    }
    /// Tasks that wait with a limit do not keep this from returning.
    void settle_but_for_timers() {
        while (!rt.default_pool().get().at_rest(true)) {
            std::this_thread::yield();
        }
    }
};
QUERN_ON_1_2_8_WORKERS(stopped_wait_test);

/// The forms of the wait for a stop that does not depend on the time.
template <class Future>
bool wait_in_form(int form, const Future& f, const std::stop_token& stop) {
    switch (form) {
        case 0:
            return f.wait(stop);
        case 1:
            return f.wait_for(stop, 24h);
        default:
            return f.wait_until(stop, std::chrono::system_clock::now() + 24h);
    }
}
constexpr int k_forms = 3;

template <class Future>
task<bool> wait_suspended(const Future& f, std::stop_token stop) {
    co_return co_await f.co_wait(std::move(stop));
}

// Holds: future: wait(stop) and the timed waits with a stop token say false when a stop was requested
//     before; a result that is there is reported nevertheless.
// Holds: shared_future: The waits with a stop token are those of future.
TEST_P(stopped_wait_test, before_the_wait_ends_it_unless_the_result_is_there) {
    std::stop_source source;
    source.request_stop();
    const auto check = [&source] {
        promise<int> late;
        const shared_future<int> f = late.get_future().share();
        for (int form = 0; form < k_forms; ++form) {
            EXPECT_FALSE(wait_in_form(form, f, source.get_token()));
        }
        late.set_value(1);
        for (int form = 0; form < k_forms; ++form) {
            EXPECT_TRUE(wait_in_form(form, f, source.get_token()));
        }
    };
    inside(check);
    check();
    promise<int> late;
    const auto f = late.get_future();
    EXPECT_FALSE(quern::start(rt, wait_suspended(f, source.get_token())).get());
    late.set_value(1);
    EXPECT_TRUE(quern::start(rt, wait_suspended(f, source.get_token())).get());
    EXPECT_THROW(static_cast<void>(future<int>().wait(source.get_token())), std::future_error);
}

// Holds: future: wait(stop) and the timed waits with a stop token end when a stop is requested during
//     the wait, and the future gives its result later.
TEST_P(stopped_wait_test, during_the_wait_ends_it_and_the_result_comes_later) {
    for (int form = 0; form < k_forms; ++form) {
        promise<int> late;
        const shared_future<int> f = late.get_future().share();
        std::stop_source source;
        auto waits = quern::async(rt, [&] { return wait_in_form(form, f, source.get_token()); });
        bool of_thread = true;
        std::thread thread([&] { of_thread = wait_in_form(form, f, source.get_token()); });
        auto suspended = quern::start(rt, wait_suspended(f, source.get_token()));
        settle_but_for_timers();
        source.request_stop();
        thread.join();
        EXPECT_FALSE(waits.get());
        EXPECT_FALSE(of_thread);
        EXPECT_FALSE(suspended.get());
        EXPECT_FALSE(f.is_ready());
        late.set_value(7);
        EXPECT_EQ(f.get(), 7);
    }
}

// Holds: future: The waits with a stop token that is never stopped end with the result.
TEST_P(stopped_wait_test, ends_with_the_result_when_no_stop_is_requested) {
    const std::stop_source source;
    const auto tokens = {source.get_token(), std::stop_token()};
    for (const std::stop_token& stop : tokens) {
        for (int form = 0; form < k_forms; ++form) {
            promise<int> late;
            const shared_future<int> f = late.get_future().share();
            auto waits = quern::async(rt, [&] { return wait_in_form(form, f, stop); });
            auto suspended = quern::start(rt, wait_suspended(f, stop));
            bool of_thread = false;
            std::thread thread([&] { of_thread = wait_in_form(form, f, stop); });
            settle_but_for_timers();
            late.set_value(1);
            thread.join();
            EXPECT_TRUE(waits.get() && suspended.get() && of_thread);
        }
    }
}

// Holds: future: The timed waits with a stop token say false when the time has come, by any clock.
TEST_P(stopped_wait_test, ends_by_its_time_when_no_stop_is_requested) {
    const auto check = [] {
        promise<int> late;
        const auto f = late.get_future();
        const std::stop_source source;
        EXPECT_FALSE(f.wait_for(source.get_token(), 1ms));
        EXPECT_FALSE(f.wait_for(source.get_token(), 0s));
        const auto when = std::chrono::system_clock::now() + 1ms;
        EXPECT_FALSE(f.wait_until(source.get_token(), when));
        EXPECT_GE(std::chrono::system_clock::now(), when);
    };
    inside(check);
    check();
}

// Holds: future: **Differs**: wait_for() and wait_until()...
TEST_P(stopped_wait_test, starts_a_deferred_task) {
    auto f = quern::async({.how = quern::launch::deferred, .pool = &rt.default_pool().get()},
                          [] { return 3; });
    const std::stop_source source;
    EXPECT_TRUE(f.wait(source.get_token()));
    EXPECT_EQ(f.get(), 3);
}

// Holds: co_await on futures: co_wait(stop) works in coroutines of other libraries.
TEST_P(stopped_wait_test, ends_the_wait_of_a_foreign_coroutine) {
    promise<int> late;
    const auto f = late.get_future();
    std::stop_source source;
    std::atomic<int> was_ready{-1};
    const auto waits = [](const future<int>& source_of, std::stop_token stop,
                          std::atomic<int>& into) -> foreign {
        into = co_await source_of.co_wait(std::move(stop)) ? 1 : 0;
    };
    quern::async(rt, [&] { waits(f, source.get_token(), was_ready); }).get();
    settle();
    EXPECT_EQ(was_ready, -1);
    source.request_stop();
    EXPECT_TRUE(quern_test::eventually([&] { return was_ready == 0; }));
}

// Holds: future: A stop of one waiter leaves the others of the same future waiting.
TEST_P(stopped_wait_test, of_one_leaves_the_others_waiting) {
    promise<int> late;
    const shared_future<int> f = late.get_future().share();
    std::stop_source source;
    const std::stop_source never;
    auto before = quern::async(rt, [&] { return f.wait(never.get_token()); });
    settle();
    auto stopped = quern::async(rt, [&] { return f.wait(source.get_token()); });
    auto stopped_too = quern::start(rt, wait_suspended(f, source.get_token()));
    settle();
    auto after = quern::start(rt, wait_suspended(f, never.get_token()));
    settle();
    source.request_stop();
    EXPECT_FALSE(stopped.get());
    EXPECT_FALSE(stopped_too.get());
    late.set_value(1);
    EXPECT_TRUE(before.get());
    EXPECT_TRUE(after.get());
}

// Holds: future: A wait(stop) returns once when result and stop come together, and keeps no memory.
TEST_P(stopped_wait_test, beside_the_result_ends_each_wait_once) {
    const auto round = [this](int i) {
        promise<int> value;
        const shared_future<int> f = value.get_future().share();
        std::stop_source source;
        const auto is_right = [&f, &source](bool was_ready) {
            return was_ready ? f.is_ready() : source.stop_requested();
        };
        auto waits = quern::async(
            rt, [&, i] { return is_right(wait_in_form(i % k_forms, f, source.get_token())); });
        auto suspended = quern::start(rt, wait_suspended(f, source.get_token()));
        auto stops = quern::async(rt, [&source] { source.request_stop(); });
        auto gives = quern::async(rt, [&value] { value.set_value(1); });
        stops.get();
        gives.get();
        EXPECT_TRUE(is_right(suspended.get()));
        EXPECT_TRUE(waits.get());
        EXPECT_EQ(f.get(), 1);
    };
    const int rounds = quern_test::scaled(100'000, 2'000) / static_cast<int>(3 * workers());
    for (int i = 0; i < rounds / 10; ++i) {
        round(i);
    }
    const auto in_blocks = [] { return quern::detail::read_block_totals().carved; };
    const auto before = in_blocks();
    for (int i = 0; i < rounds; ++i) {
        round(i);
    }
    EXPECT_LT(in_blocks(), before + (std::size_t{1} << 20));
}

// Holds: future: A wait(stop) returns once when...
TEST_P(stopped_wait_test, by_a_thread_beside_the_result_ends_each_wait_once) {
    const int rounds = quern_test::scaled(2'000, 200);
    for (int i = 0; i < rounds; ++i) {
        promise<int> value;
        const shared_future<int> f = value.get_future().share();
        std::stop_source source;
        std::thread waits([&] { static_cast<void>(f.wait(source.get_token())); });
        auto gives = quern::async(rt, [&value] { value.set_value(1); });
        source.request_stop();
        gives.get();
        waits.join();
    }
}

// Holds: jthread: A jthread that waits for a future with its token ends with its owner.
TEST_P(stopped_wait_test, of_a_jthread_ends_its_wait_for_a_future) {
    inside([] {
        promise<int> never;
        const auto f = never.get_future();
        bool was_ready = true;
        {
            const quern::jthread waits(
                [&](const std::stop_token& stop) { was_ready = f.wait(stop); });
        }
        EXPECT_FALSE(was_ready);
    });
}

// Holds: future: A report of waits says that a wait with a stop token is for a future.
TEST_P(stopped_wait_test, is_reported_as_a_wait_for_a_future) {
    promise<int> late;
    const auto f = late.get_future();
    std::stop_source source;
    auto waits = quern::async({.name = "reader", .pool = &rt.default_pool().get()},
                              [&] { return f.wait(source.get_token()); });
    settle();
    EXPECT_NE(quern::task_report().find("a future"), std::string::npos) << quern::task_report();
    source.request_stop();
    EXPECT_FALSE(waits.get());
}

}  // namespace
