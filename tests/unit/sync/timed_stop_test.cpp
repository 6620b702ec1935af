// SPDX-License-Identifier: BSL-1.0
// Waits with a stop token and a deadline together: for every type that has timed waits, by tasks
// and by threads outside, each of the two ends the wait, and the waiter has left its queue then.
#include <quern/sync/channel.hpp>
#include <quern/sync/condition_variable.hpp>
#include <quern/sync/condition_variable_any.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/semaphore.hpp>
#include <quern/sync/timed_mutex.hpp>

#include "crew.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <stop_token>
#include <thread>

namespace {

using namespace std::chrono_literals;
using quern_test::crew;
using steady = std::chrono::steady_clock;

/// Each has an object to wait for; give() lets one waiter succeed. The thread that made it calls
/// give().
template <class Mutex>
struct locked {
    locked() { m.lock(); }
    bool wait_until(const auto& stop, auto when) {
        return m.try_lock_until(stop, when) && (m.unlock(), true);
    }
    bool wait_for(const auto& stop, auto time) {
        return m.try_lock_for(stop, time) && (m.unlock(), true);
    }
    void give() { m.unlock(); }
    Mutex m;
};

struct locked_for_readers {
    locked_for_readers() { m.lock(); }
    bool wait_until(const auto& stop, auto when) {
        return m.try_lock_shared_until(stop, when) && (m.unlock_shared(), true);
    }
    bool wait_for(const auto& stop, auto time) {
        return m.try_lock_shared_for(stop, time) && (m.unlock_shared(), true);
    }
    void give() { m.unlock(); }
    quern::shared_timed_mutex m;
};

struct no_permit {
    bool wait_until(const auto& stop, auto when) { return s.try_acquire_until(stop, when); }
    bool wait_for(const auto& stop, auto time) { return s.try_acquire_for(stop, time); }
    void give() { s.release(); }
    quern::counting_semaphore<> s{0};
};

struct not_set {
    bool wait_until(const auto& stop, auto when) { return e.wait_until(stop, when); }
    bool wait_for(const auto& stop, auto time) { return e.wait_for(stop, time); }
    void give() { e.set(); }
    quern::event e;
};

struct empty_channel {
    bool wait_until(const auto& stop, auto when) {
        return c.try_receive_until(stop, when).has_value();
    }
    bool wait_for(const auto& stop, auto time) { return c.try_receive_for(stop, time).has_value(); }
    void give() { c.send(1); }
    quern::channel<int> c;
};

struct full_channel {
    full_channel() { c.send(0); }
    bool wait_until(const auto& stop, auto when) { return c.try_send_until(1, stop, when); }
    bool wait_for(const auto& stop, auto time) { return c.try_send_for(1, stop, time); }
    void give() { c.receive(); }
    quern::channel<int> c{1};
};

template <class Variable>
struct not_notified {
    bool wait_until(const auto& stop, auto when) {
        std::unique_lock lock(m);
        return c.wait_until(lock, stop, when, [this] { return given; });
    }
    bool wait_for(const auto& stop, auto time) {
        std::unique_lock lock(m);
        return c.wait_for(lock, stop, time, [this] { return given; });
    }
    void give() {
        const std::scoped_lock lock(m);
        given = true;
        c.notify_one();
    }
    quern::mutex m;
    Variable c;
    bool given = false;
};

template <class Thing>
class timed_stop_test : public testing::Test {
protected:
    /// Calls the function as a task and then in a thread outside. It is given an object to wait
    /// for.
    template <class F>
    void in_and_outside(F&& f) {
        for (const bool in_task : {true, false}) {
            Thing thing;
            std::stop_source source;
            const auto part = [&] { f(thing, source); };
            in_task ? all.task(part) : all.thread(part);
            all.finish();
        }
    }

    /// The function waits, as a task or in a thread outside; `meanwhile` runs here.
    template <class F, class G>
    void beside(F&& f, G&& meanwhile) {
        for (const bool in_task : {true, false}) {
            Thing thing;
            std::stop_source source;
            const auto part = [&] { f(thing, source); };
            in_task ? all.task(part) : all.thread(part);
            all.settle_but_for_timers();
            meanwhile(thing, source);
            all.finish();
        }
    }

    crew all{2};
};

using things =
    testing::Types<locked<quern::timed_mutex>, locked<quern::recursive_timed_mutex>,
                   locked<quern::shared_timed_mutex>, locked_for_readers, no_permit, not_set,
                   empty_channel, full_channel, not_notified<quern::condition_variable>,
                   not_notified<quern::condition_variable_any>>;
TYPED_TEST_SUITE(timed_stop_test, things);

// Holds: event: wait_until(stop, when), as every wait with a stop token and a deadline, ends at its
//     deadline when no stop is requested.
TYPED_TEST(timed_stop_test, ends_at_its_time_when_no_stop_is_requested) {
    this->in_and_outside([](auto& thing, std::stop_source& source) {
        const std::stop_token stop = source.get_token();
        const auto when = steady::now() + 2ms;
        EXPECT_FALSE(thing.wait_until(stop, when));
        EXPECT_GE(steady::now(), when);
        EXPECT_FALSE(thing.wait_for(stop, 1ms));
        EXPECT_FALSE(thing.wait_for(stop, 0ms));
        EXPECT_FALSE(thing.wait_until(stop, std::chrono::system_clock::now() + 1ms));
        EXPECT_FALSE(thing.wait_for(std::stop_token(), 1ms));
    });
}

// Holds: event: wait_until(stop, when), as every wait with a stop token and a deadline, returns false
//     when a stop was requested before, unless what it waits for is there.
TYPED_TEST(timed_stop_test, before_the_wait_ends_it) {
    for (const bool in_task : {true, false}) {
        TypeParam thing;
        std::stop_source source;
        source.request_stop();
        const std::stop_token stop = source.get_token();
        const auto check = [&](bool is_there) {
            const auto part = [&, is_there] {
                EXPECT_EQ(thing.wait_for(stop, 24h), is_there);
                if (!is_there) {
                    EXPECT_FALSE(thing.wait_until(stop, std::chrono::system_clock::now() + 24h));
                }
            };
            in_task ? this->all.task(part) : this->all.thread(part);
            this->all.finish();
        };
        check(false);
        thing.give();
        check(true);
    }
}

// Holds: event: wait_until(stop, when), as every wait with a stop token and a deadline, ends when a
//     stop is requested during the wait; what comes later is for the next waiter.
TYPED_TEST(timed_stop_test, during_the_wait_ends_it) {
    std::atomic<bool> has_stopped{false};
    this->beside(
        [&has_stopped](auto& thing, std::stop_source& source) {
            const auto tomorrow = std::chrono::system_clock::now() + 24h;
            EXPECT_FALSE(thing.wait_until(source.get_token(), tomorrow));
            has_stopped = true;
            EXPECT_TRUE(thing.wait_for(std::stop_token(), 24h));
        },
        [&has_stopped](auto& thing, std::stop_source& source) {
            source.request_stop();
            while (!has_stopped.exchange(false)) {
                std::this_thread::yield();
            }
            thing.give();
        });
}

// Holds: event: wait_until(stop, when), as every wait with a stop token and a deadline, ends when what
//     it waits for comes.
TYPED_TEST(timed_stop_test, ends_when_it_comes) {
    this->beside(
        [](auto& thing, std::stop_source& source) {
            EXPECT_TRUE(thing.wait_for(source.get_token(), 24h));
        },
        [](auto& thing, std::stop_source&) { thing.give(); });
}

// Holds: event: wait_until(stop, when), as every wait with a stop token and a deadline, returns once
//     when what it waits for, the stop and the deadline come together, and nothing is lost.
TYPED_TEST(timed_stop_test, ends_once_when_all_come_together) {
    for (int round = 0; round < (quern_test::k_sanitized ? 50 : 300); ++round) {
        TypeParam thing;
        std::stop_source source;
        const auto part = [&thing, &source, round] {
            const auto time = std::chrono::microseconds(20 + round % 60);
            if (!thing.wait_for(source.get_token(), time)) {
                EXPECT_TRUE(thing.wait_for(std::stop_token(), 24h));
            }
        };
        round % 8 != 0 ? this->all.task(part) : this->all.thread(part);
        this->all.task([&source] { source.request_stop(); });
        thing.give();
        this->all.finish();
    }
}

}  // namespace
