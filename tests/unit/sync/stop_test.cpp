// SPDX-License-Identifier: BSL-1.0
// Waits with a stop token: every type ends the wait of a task and of a thread when a stop is
// requested, before and during the wait, and the waiter has left its queue then.
#include <quern/sync/and_gate.hpp>
#include <quern/sync/barrier.hpp>
#include <quern/sync/channel.hpp>
#include <quern/sync/condition_variable.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/full_empty.hpp>
#include <quern/sync/latch.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/sync/recursive_mutex.hpp>
#include <quern/sync/semaphore.hpp>
#include <quern/sync/shared_mutex.hpp>
#include <quern/sync/sliding_semaphore.hpp>
#include <quern/sync/trigger.hpp>
#include <quern/task/jthread.hpp>

#include "crew.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace {

using quern_test::crew;

/// A wait for an object that gives nothing yet, and what makes it give something.
struct waiting_thing {
    std::string name;
    std::function<bool(const std::stop_token&)> wait;
    std::function<void()> give;
};

/// One of each type. Each wait() gets what it waits for from one give().
struct things {
    quern::event event;
    quern::latch latch{1};
    quern::barrier<> barrier{3};  // two waits, and one to give
    quern::counting_semaphore<> semaphore{0};
    quern::sliding_semaphore window{0};
    quern::trigger trigger;
    quern::and_gate gate{1};
    quern::full_empty<int> cell, copied_cell, full_cell{1};
    quern::channel<int> numbers, full_numbers{1};
    quern::mutex data;
    quern::condition_variable changed;
    bool is_ready = false;

    std::vector<waiting_thing> all() {
        full_numbers.send(1);
        return {
            {"event", [this](auto& stop) { return event.wait(stop); }, [this] { event.set(); }},
            {"latch", [this](auto& stop) { return latch.wait(stop); },
             [this] { latch.count_down(); }},
            {"barrier", [this](auto& stop) { return barrier.wait(barrier.arrive(), stop); },
             [this] { static_cast<void>(barrier.arrive()); }},
            {"semaphore", [this](auto& stop) { return semaphore.acquire(stop); },
             [this] { semaphore.release(); }},
            {"sliding_semaphore", [this](auto& stop) { return window.wait(1, stop); },
             [this] { window.signal(1); }},
            {"trigger", [this](auto& stop) { return trigger.synchronize(1, stop); },
             [this] { trigger.set(); }},
            {"and_gate", [this](auto& stop) { return gate.synchronize(1, stop); },
             [this] { gate.set(0); }},
            {"read_fe", [this](auto& stop) { return cell.read_fe(stop).has_value(); },
             [this] { cell.write_f(1); }},
            {"read_ff", [this](auto& stop) { return copied_cell.read_ff(stop).has_value(); },
             [this] { copied_cell.write_f(1); }},
            {"write_ef", [this](auto& stop) { return full_cell.write_ef(1, stop); },
             [this] { full_cell.purge(); }},
            {"receive", [this](auto& stop) { return numbers.receive(stop).has_value(); },
             [this] { numbers.send(1); }},
            {"send", [this](auto& stop) { return full_numbers.send(2, stop); },
             [this] { full_numbers.receive(); }},
            {"condition_variable",
             [this](auto& stop) {
                 std::unique_lock lock(data);
                 const bool is = changed.wait(lock, stop, [this] { return is_ready; });
                 EXPECT_TRUE(lock.owns_lock());
                 return is;
             },
             [this] {
                 const std::scoped_lock lock(data);
                 is_ready = true;
                 changed.notify_all();
             }},
        };
    }
};

class stop_test : public quern_test::on_workers {};
QUERN_ON_1_2_8_WORKERS(stop_test);

// Holds: event: wait(stop), as every wait with a stop token, returns false when a stop was requested
//     before; what is there is taken nevertheless.
TEST_P(stop_test, before_the_wait_ends_it_unless_there_is_what_it_waits_for) {
    all.task([] {
        std::stop_source source;
        source.request_stop();
        things its;
        for (const waiting_thing& each : its.all()) {
            EXPECT_FALSE(each.wait(source.get_token())) << each.name;
            each.give();
            EXPECT_TRUE(each.wait(source.get_token())) << each.name;
        }
    });
}

/// The wait ends by the stop; and the next one, of the same kind, gets what comes.
void stop_each(crew& all, const std::function<void(std::function<void()>)>& start) {
    things its;
    for (const waiting_thing& each : its.all()) {
        std::stop_source source;
        std::atomic<int> stopped{-1};
        start([&] { stopped = each.wait(source.get_token()) ? 1 : 0; });
        all.settle();
        source.request_stop();
        while (stopped == -1) {
            std::this_thread::yield();
        }
        EXPECT_EQ(stopped, 0) << each.name;
        each.give();
        EXPECT_TRUE(each.wait(std::stop_token())) << each.name;
        all.finish();
    }
}

// Holds: event: wait(stop), as every wait with a stop token, ends when a stop is requested during the
//     wait. The next waiter gets what comes.
TEST_P(stop_test, during_the_wait_of_a_task_ends_it) {
    stop_each(all, [this](auto f) { all.task(std::move(f)); });
}
// Holds: event: wait(stop), as every wait with a stop token, ends when...
TEST_P(stop_test, during_the_wait_of_a_thread_ends_it) {
    stop_each(all, [this](auto f) { all.thread(std::move(f)); });
}

/// A holder keeps the lock until the waiter has stopped. Returns whether it got the lock.
template <class Mutex>
void stop_a_lock(crew& all) {
    Mutex m;
    quern::event has_stopped;
    std::stop_source source;
    m.lock();
    all.task([&] {
        EXPECT_FALSE(m.lock(source.get_token()));
        has_stopped.set();
        EXPECT_TRUE(m.lock(std::stop_token()));
        m.unlock();
    });
    all.settle();
    source.request_stop();
    has_stopped.wait();
    m.unlock();
    all.finish();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
}

// Holds: mutex: lock(stop) returns false without the lock when a stop is requested, and true with it
//     otherwise.
TEST_P(stop_test, during_the_wait_for_a_lock_ends_it) {
    stop_a_lock<quern::mutex>(all);
    stop_a_lock<quern::recursive_mutex>(all);
    stop_a_lock<quern::shared_mutex>(all);
}

// Holds: shared_mutex: A writer that stops lets the readers behind it in.
TEST_P(stop_test, of_a_writer_lets_the_readers_behind_it_in) {
    quern::shared_mutex m;
    std::stop_source source;
    quern::event has_read;
    m.lock_shared();
    all.task([&] { EXPECT_FALSE(m.lock(source.get_token())); });
    all.settle();
    all.task([&] {
        EXPECT_TRUE(m.lock_shared(std::stop_token()));
        has_read.set();
        m.unlock_shared();
    });
    all.settle();
    EXPECT_FALSE(has_read.is_set());
    source.request_stop();
    has_read.wait();
    m.unlock_shared();
    all.finish();
}

// Holds: counting_semaphore: A permit that comes while a stop is requested is either taken or left.
TEST_P(stop_test, beside_what_comes_loses_nothing) {
    for (int round = 0; round < (quern_test::k_sanitized ? 100 : 500); ++round) {
        quern::counting_semaphore<> permits(0);
        quern::channel<int> numbers;
        std::stop_source source;
        std::atomic<int> got{0}, received{0};
        all.task([&] { got = permits.acquire(source.get_token()) ? 1 : 0; });
        all.task([&] { received = numbers.receive(source.get_token()) ? 1 : 0; });
        all.task([&] {
            permits.release();
            numbers.send(1);
        });
        all.task([&] { source.request_stop(); });
        all.finish();
        EXPECT_EQ(permits.try_acquire(), got == 0);
        EXPECT_EQ(numbers.try_receive().has_value(), received == 0);
    }
}

// Holds: channel: receive(stop) and send(stop) of a closed channel behave as receive() and send().
TEST_P(stop_test, of_a_closed_channel_is_not_waited_for) {
    quern::channel<int> numbers(1);
    std::stop_source source;
    EXPECT_TRUE(numbers.send(1, source.get_token()));
    numbers.close();
    EXPECT_THROW(numbers.send(2, source.get_token()), quern::channel_closed);
    EXPECT_EQ(numbers.receive(source.get_token()), 1);
    EXPECT_FALSE(numbers.receive(source.get_token()).has_value());
}

// Holds: channel: send(stop) that is stopped leaves the value unchanged.
TEST(stop_of_a_send_test, leaves_the_value) {
    quern::channel<std::unique_ptr<int>> pointers(1);
    std::stop_source source;
    pointers.send(nullptr);
    source.request_stop();
    auto value = std::make_unique<int>(1);
    EXPECT_FALSE(pointers.send(std::move(value), source.get_token()));
    ASSERT_NE(value, nullptr);
}

// Holds: channel: A jthread that waits in receive(stop) ends with its owner.
TEST_P(stop_test, of_a_jthread_ends_its_wait_in_a_channel) {
    all.task([] {
        quern::channel<int> numbers(4);
        int sum = 0;
        quern::event received;
        {
            const quern::jthread reader([&](const std::stop_token& stop) {
                while (const auto number = numbers.receive(stop)) {
                    sum += *number;
                    received.set();
                }
            });
            numbers.send(1);
            received.wait();
        }
        EXPECT_EQ(sum, 1);
    });
}

}  // namespace
