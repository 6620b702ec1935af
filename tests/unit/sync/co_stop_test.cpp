// SPDX-License-Identifier: BSL-1.0
// co_await with a stop token, of every type: a stop before the wait, during it, and beside what it
// waits for, in coroutines of this library and of others. Futures: unit/task/stopped_wait_test.cpp.
#include <quern/sync/channel.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/full_empty.hpp>
#include <quern/sync/latch.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/sync/semaphore.hpp>
#include <quern/sync/shared_mutex.hpp>
#include <quern/sync/sliding_semaphore.hpp>

#include "coroutines.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace {

using quern::start;
using quern::task;
using quern_test::foreign;

/// A wait of a coroutine for an object that gives nothing yet, and what makes it give something.
struct waiting_thing {
    std::string name;
    std::function<task<bool>(std::stop_token)> wait;
    std::function<void()> give;
};

/// One of each type. Each wait gets what it waits for from one give().
struct things {
    quern::event event;
    quern::latch latch{1};
    quern::counting_semaphore<> semaphore{0};
    quern::sliding_semaphore window{0};
    quern::full_empty<int> cell, copied_cell, full_cell{1};
    quern::channel<int> numbers, full_numbers{1};
    quern::mutex locked;
    quern::shared_mutex written, read;

    things() {
        full_numbers.send(1);
        locked.lock();
        written.lock();
        read.lock();
    }

    task<bool> for_event(std::stop_token s) { co_return co_await event.co_wait(std::move(s)); }
    task<bool> for_latch(std::stop_token s) { co_return co_await latch.co_wait(std::move(s)); }
    task<bool> for_permit(std::stop_token s) {
        co_return co_await semaphore.co_acquire(std::move(s));
    }
    task<bool> for_window(std::stop_token s) { co_return co_await window.co_wait(1, std::move(s)); }
    task<bool> for_read_fe(std::stop_token s) {
        co_return (co_await cell.co_read_fe(std::move(s))).has_value();
    }
    task<bool> for_read_ff(std::stop_token s) {
        co_return (co_await copied_cell.co_read_ff(std::move(s))).has_value();
    }
    task<bool> for_write_ef(std::stop_token s) {
        co_return co_await full_cell.co_write_ef(1, std::move(s));
    }
    task<bool> for_value(std::stop_token s) {
        co_return (co_await numbers.co_receive(std::move(s))).has_value();
    }
    task<bool> for_place(std::stop_token s) {
        co_return co_await full_numbers.co_send(2, std::move(s));
    }
    task<bool> for_mutex(std::stop_token s) {
        const auto held = co_await locked.co_lock(std::move(s));
        co_return held.owns_lock();
    }
    task<bool> for_writing(std::stop_token s) {
        const auto held = co_await written.co_lock(std::move(s));
        co_return held.owns_lock();
    }
    task<bool> for_reading(std::stop_token s) {
        const auto held = co_await read.co_lock_shared(std::move(s));
        co_return held.owns_lock();
    }

    /// give() only on the thread that made this.
    std::vector<waiting_thing> all() {
        return {
            {"event", [this](auto s) { return for_event(s); }, [this] { event.set(); }},
            {"latch", [this](auto s) { return for_latch(s); }, [this] { latch.count_down(); }},
            {"semaphore", [this](auto s) { return for_permit(s); },
             [this] { semaphore.release(); }},
            {"sliding_semaphore", [this](auto s) { return for_window(s); },
             [this] { window.signal(1); }},
            {"read_fe", [this](auto s) { return for_read_fe(s); }, [this] { cell.write_f(1); }},
            {"read_ff", [this](auto s) { return for_read_ff(s); },
             [this] { copied_cell.write_f(1); }},
            {"write_ef", [this](auto s) { return for_write_ef(s); }, [this] { full_cell.purge(); }},
            {"receive", [this](auto s) { return for_value(s); }, [this] { numbers.send(1); }},
            {"send", [this](auto s) { return for_place(s); }, [this] { full_numbers.receive(); }},
            {"mutex", [this](auto s) { return for_mutex(s); }, [this] { locked.unlock(); }},
            {"shared_mutex", [this](auto s) { return for_writing(s); },
             [this] { written.unlock(); }},
            {"shared_mutex, reader", [this](auto s) { return for_reading(s); },
             [this] { read.unlock(); }},
        };
    }
};

class co_stop_test : public quern_test::on_coroutines {};
QUERN_ON_1_2_8_WORKERS(co_stop_test);

// Holds: co_await on synchronisation: With a stop token it gives what the wait with one returns, and
//     does not suspend when a stop was requested before; what is there is taken nevertheless.
TEST_P(co_stop_test, before_the_wait_ends_it_unless_there_is_what_it_waits_for) {
    std::stop_source source;
    source.request_stop();
    things its;
    for (const waiting_thing& each : its.all()) {
        EXPECT_FALSE(start(rt, each.wait(source.get_token())).get()) << each.name;
        each.give();
        EXPECT_TRUE(start(rt, each.wait(source.get_token())).get()) << each.name;
    }
}

// Holds: co_await on synchronisation: A stop request during the wait ends it; the coroutine leaves the
//     queue, and what comes later is for the next waiter.
// Holds: co_lock: With a stop token it gives an empty guard when a stop is requested.
TEST_P(co_stop_test, during_the_wait_ends_it) {
    things its;
    for (const waiting_thing& each : its.all()) {
        std::stop_source source;
        auto stopped = start(rt, each.wait(source.get_token()));
        auto next = start(rt, each.wait(std::stop_token()));
        settle();
        EXPECT_FALSE(stopped.is_ready() || next.is_ready()) << each.name;
        source.request_stop();
        EXPECT_FALSE(stopped.get()) << each.name;
        settle();
        EXPECT_FALSE(next.is_ready()) << each.name;
        each.give();
        EXPECT_TRUE(next.get()) << each.name;
    }
}

// Holds: co_await on synchronisation: With a stop token it ends with what it waits for when no stop is
//     requested.
TEST_P(co_stop_test, ends_with_what_comes_when_no_stop_is_requested) {
    things its;
    const std::stop_source source;
    for (const waiting_thing& each : its.all()) {
        auto waits = start(rt, each.wait(source.get_token()));
        settle();
        each.give();
        EXPECT_TRUE(waits.get()) << each.name;
    }
}

// Holds: co_await on synchronisation: A stop beside what comes ends the wait once, and nothing is lost.
TEST_P(co_stop_test, beside_what_comes_loses_nothing) {
    const int rounds = quern_test::scaled(10'000, 200) / static_cast<int>(workers());
    for (int round = 0; round < rounds; ++round) {
        things its;
        const auto every = its.all();
        const waiting_thing& each = every[static_cast<std::size_t>(round) % every.size()];
        std::stop_source source;
        auto waits = start(rt, each.wait(source.get_token()));
        auto stops = quern::async(rt, [&source] { source.request_stop(); });
        each.give();
        if (!waits.get()) {
            EXPECT_TRUE(start(rt, each.wait(std::stop_token())).get()) << each.name;
        }
        stops.get();
    }
}

// Holds: co_await on synchronisation: A writer that stops lets the readers behind it in.
TEST_P(co_stop_test, of_a_writer_lets_the_readers_behind_it_in) {
    quern::shared_mutex m;
    std::stop_source source;
    const auto writes = [](quern::shared_mutex& at, std::stop_token stop) -> task<bool> {
        const auto held = co_await at.co_lock(std::move(stop));
        co_return held.owns_lock();
    };
    const auto reads = [](quern::shared_mutex& at) -> task<bool> {
        const auto held = co_await at.co_lock_shared(std::stop_token());
        co_return held.owns_lock();
    };
    m.lock_shared();
    auto writer = start(rt, writes(m, source.get_token()));
    settle();
    auto reader = start(rt, reads(m));
    settle();
    EXPECT_FALSE(reader.is_ready());
    source.request_stop();
    EXPECT_TRUE(reader.get());
    EXPECT_FALSE(writer.get());
    m.unlock_shared();
}

// Holds: co_await on synchronisation: With a stop token it works in coroutines of other libraries.
TEST_P(co_stop_test, ends_the_wait_of_a_foreign_coroutine) {
    quern::channel<int> numbers;
    std::stop_source source;
    std::atomic<int> got{-1};
    const auto receives = [](quern::channel<int>& from, std::stop_token stop,
                             std::atomic<int>& into) -> foreign {
        into = (co_await from.co_receive(std::move(stop))).has_value() ? 1 : 0;
    };
    quern::async(rt, [&] { receives(numbers, source.get_token(), got); }).get();
    settle();
    EXPECT_EQ(got, -1);
    source.request_stop();
    EXPECT_TRUE(quern_test::eventually([&] { return got == 0; }));
}

// Holds: co_await on synchronisation: co_send() that is stopped destroys the value.
TEST_P(co_stop_test, of_a_send_destroys_the_value) {
    quern::channel<std::shared_ptr<int>> pointers(1);
    pointers.send(nullptr);
    std::stop_source source;
    auto value = std::make_shared<int>(1);
    const auto sends = [](quern::channel<std::shared_ptr<int>>& to, std::shared_ptr<int> p,
                          std::stop_token stop) -> task<bool> {
        co_return co_await to.co_send(std::move(p), std::move(stop));
    };
    auto sent = start(rt, sends(pointers, value, source.get_token()));
    settle();
    EXPECT_EQ(value.use_count(), 2);
    source.request_stop();
    EXPECT_FALSE(sent.get());
    EXPECT_TRUE(quern_test::eventually([&] { return value.use_count() == 1; }));
}

// Holds: co_await on synchronisation: A closed channel behaves the same with a stop token.
TEST_P(co_stop_test, of_a_closed_channel_is_not_waited_for) {
    quern::channel<int> numbers(1);
    const std::stop_source source;
    const auto sends = [](quern::channel<int>& to, std::stop_token stop) -> task<bool> {
        co_return co_await to.co_send(1, std::move(stop));
    };
    EXPECT_TRUE(start(rt, sends(numbers, source.get_token())).get());
    auto waits = start(rt, sends(numbers, source.get_token()));
    settle();
    numbers.close();
    EXPECT_THROW(waits.get(), quern::channel_closed);
    EXPECT_THROW(start(rt, sends(numbers, source.get_token())).get(), quern::channel_closed);
}

}  // namespace
