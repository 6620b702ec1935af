// SPDX-License-Identifier: BSL-1.0
// Promises, channels, latches, barriers and semaphores of several localities: used from all of
// them, while they move, and wrongly.
#include "on_job.hpp"

#include <quern/localities/barrier.hpp>
#include <quern/localities/channel.hpp>
#include <quern/localities/latch.hpp>
#include <quern/localities/names.hpp>
#include <quern/localities/promise.hpp>
#include <quern/localities/semaphore.hpp>
#include <quern/task/when.hpp>

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace quern_test;
using quern::localities::all;
using quern::localities::barrier;
using quern::localities::channel;
using quern::localities::count;
using quern::localities::find;
using quern::localities::here;
using quern::localities::latch;
using quern::localities::migrate;
using quern::localities::post_to;
using quern::localities::promise;
using quern::localities::publish;
using quern::localities::remote_error;
using quern::localities::run_at;
using quern::localities::semaphore;

class control_test : public on_job {};
QUERN_ON_1_2_WORKERS(control_test);

// Holds: localities promise: any locality sets it, and all may wait for it.
TEST_P(control_test, promise_travels) {
    const promise<std::string> one(next_locality());
    std::vector<quern::future<std::string>> copies;
    for (const int each : all()) {
        copies.push_back(run_at(
            each, [](promise<std::string> of) { return of.get_future().get(); }, one));
    }
    post_to(
        next_locality(),
        [](promise<std::string> to) { to.set_value("set by " + std::to_string(here())); }, one);
    const std::string words = "set by " + std::to_string(next_locality());
    for (auto& each : copies) {
        EXPECT_EQ(each.get(), words);
    }
    EXPECT_EQ(one.get_future().get(), words);
    EXPECT_FALSE(one.try_set_value("again").get());
    const auto error =
        error_of(one.as_object().call(&promise<std::string>::state::set, std::string("again")));
    EXPECT_EQ(error.type, "std::logic_error");
    EXPECT_EQ(error.message, "quern: localities::promise: it has been set before");
}

// Holds: localities promise: an exception arrives at all that wait.
TEST_P(control_test, promise_with_an_exception) {
    const promise<void> one(next_locality());
    auto waiting = one.get_future();
    one.set_exception(std::make_exception_ptr(std::range_error("too far")));
    EXPECT_EQ(error_of(std::move(waiting)).type, "std::range_error");
    EXPECT_EQ(error_of(one.get_future()).message, "too far");
    const promise<void> other(here());
    auto ready = other.get_future();
    EXPECT_TRUE(other.try_set_value().get());
    ready.get();
}

// Holds: localities promise: without a reference those that wait get an error.
TEST_P(control_test, promise_is_broken) {
    quern::future<int> waiting;
    {
        const promise<int> one(next_locality());
        migrate(one.as_object(), here()).get();
        waiting = one.get_future();
    }
    const auto error = error_of(std::move(waiting));
    EXPECT_EQ(error.type, "std::logic_error");
    EXPECT_EQ(error.message, "quern: localities: its object has ended while it was waited for");
}

// Holds: localities channel: values of one locality are received in the order of sending.
TEST_P(control_test, channel_keeps_the_order) {
    const channel<int> one(next_locality());
    const int values = scaled(1000, 200);
    post_to(
        next_locality(),
        [](channel<int> to, int number) {
            for (int i = 0; i < number; ++i) {
                to.post(i);
            }
            to.close();
        },
        one, values);
    int expected = 0;
    while (const std::optional<int> value = one.receive().get()) {
        EXPECT_EQ(*value, expected++);
    }
    EXPECT_EQ(expected, values);
    EXPECT_EQ(one.receive().get(), std::nullopt);
    EXPECT_EQ(error_of(one.send(1)).type, "quern::channel_closed");
}

// Holds: localities channel: with a capacity senders wait.
TEST_P(control_test, channel_with_a_capacity) {
    const channel<std::string> one(next_locality(), 2);
    one.send("0").get();
    one.send("1").get();
    auto third = one.send("2");
    auto fourth = one.send("3");
    EXPECT_EQ(one.try_receive().get(), "0");
    third.get();
    EXPECT_FALSE(fourth.is_ready());
    one.close();
    EXPECT_EQ(error_of(std::move(fourth)).type, "quern::channel_closed");
    EXPECT_EQ(one.receive().get(), "1");
    EXPECT_EQ(one.receive().get(), "2");
    EXPECT_EQ(one.receive().get(), std::nullopt);
    EXPECT_EQ(one.try_receive().get(), std::nullopt);
    const auto refused = error_of(run_at(here(), [] { channel<int>(here(), 0); }));
    EXPECT_EQ(refused.message, "quern: localities::channel of capacity 0; accepted: at least 1");
}

// Holds: localities channel: a value that is posted does not overtake those that are sent.
TEST_P(control_test, channel_keeps_posted_values_in_their_order) {
    const channel<int> one(next_locality(), 1);
    std::vector<quern::future<void>> sent;
    sent.push_back(one.send(1));
    sent.push_back(one.send(2));
    one.post(3);
    sent.push_back(one.send(4));
    for (int expected = 1; expected <= 3; ++expected) {
        EXPECT_EQ(one.receive().get(), expected);
    }
    sent[0].get();
    sent[1].get();
    one.post(5);
    one.close();
    EXPECT_EQ(one.receive().get(), 4);
    EXPECT_EQ(one.receive().get(), 5);
    EXPECT_EQ(one.receive().get(), std::nullopt);
    sent[2].get();
}

/// A value that cannot be written from one locality to another.
struct unwritable {
    int value = 0;
    template <class Archive>
    void save(Archive& /*into*/) const {
        throw std::range_error("cannot be written");
    }
    template <class Archive>
    void load(Archive& /*from*/) {}
};

// Holds: localities promise: a value that cannot be written is an error for those that wait.
TEST_P(control_test, promise_of_what_cannot_be_written) {
    const promise<unwritable> one(here());
    auto waiting = run_at(
        next_locality(),
        [](const promise<unwritable>& of) {
            try {
                of.get_future().get();
            } catch (const remote_error& error) {
                return error.report().message;
            }
            return std::string("none");
        },
        one);
    one.set_value(unwritable{1});
    EXPECT_EQ(waiting.get(), "cannot be written");
}

// Holds: localities channel: it moves with its values and with those that wait.
TEST_P(control_test, channel_moves) {
    const channel<std::vector<double>> one(here(), 3);
    std::vector<quern::future<std::optional<std::vector<double>>>> received;
    for (int i = 0; i < 3; ++i) {
        received.push_back(one.receive());
    }
    migrate(one.as_object(), next_locality()).get();
    std::vector<quern::future<void>> sent;
    for (int i = 0; i < 8; ++i) {  // three go to receivers, three wait in it, two outside
        sent.push_back(one.send(std::vector<double>(4000, i)));
    }
    migrate(one.as_object(), locality_after(next_locality())).get();
    for (int i = 3; i < 8; ++i) {
        received.push_back(one.receive());
    }
    for (std::size_t i = 0; i < received.size(); ++i) {
        EXPECT_EQ(received[i].get(), std::vector<double>(4000, static_cast<double>(i)));
        sent[i].get();
    }
}

// Holds: localities channel: types that can only be moved.
TEST_P(control_test, channel_of_what_cannot_be_copied) {
    const channel<std::unique_ptr<int>> one(next_locality());
    one.send(std::make_unique<int>(5)).get();
    EXPECT_EQ(**one.receive().get(), 5);
    auto none = one.receive();
    one.close();
    EXPECT_EQ(none.get(), std::nullopt);
}

// Holds: localities channel: each value is received once, by whichever locality.
TEST_P(control_test, channel_of_many_senders_and_receivers) {
    struct ends {
        static void send(channel<int> to, latch done, int values) {
            for (int i = 1; i <= values; ++i) {
                to.send(i).get();
            }
            done.count_down();
        }
        static long receive(channel<int> from) {
            long sum = 0;
            while (const std::optional<int> one = from.receive().get()) {
                sum += *one;
            }
            return sum;
        }
    };
    const int values = scaled(200, 40);
    const channel<int> queue(next_locality(), 4);
    const latch done(here(), count());
    std::vector<quern::future<long>> sums;
    for (const int each : all()) {
        sums.push_back(run_at(each, &ends::receive, queue));
        post_to(each, &ends::send, queue, done, values);
    }
    done.wait().get();
    queue.close();
    long sum = 0;
    for (auto& each : sums) {
        sum += each.get();
    }
    EXPECT_EQ(sum, static_cast<long>(count()) * values * (values + 1) / 2);
}

// Holds: localities channel: it has a name as each global object.
TEST_P(control_test, channel_with_a_name) {
    const std::string name = "channel of " + std::to_string(here());
    const channel<int> one(here());
    publish(name, one.as_object()).get();
    run_at(
        next_locality(),
        [](const std::string& of) {
            const channel<int> same(find<channel<int>::state>(of).get());
            same.send(11).get();
        },
        name)
        .get();
    EXPECT_EQ(one.receive().get(), 11);
}

// Holds: localities latch: waits end when the count is 0.
TEST_P(control_test, latch_counts_down) {
    const latch one(next_locality(), 2 * count() + 1);
    for (const int each : all()) {
        post_to(
            each, [](latch of) { of.count_down(2); }, one);
    }
    auto waiting = one.wait();
    EXPECT_FALSE(one.try_wait().get());
    one.arrive_and_wait().get();
    waiting.get();
    EXPECT_TRUE(one.try_wait().get());
    const auto error = error_of(one.arrive_and_wait());
    EXPECT_EQ(error.message,
              "quern: localities::latch::count_down by 1; accepted: 0 to what is left, 0");
    EXPECT_EQ(error_of(run_at(here(), [] { latch(here(), -1); })).message,
              "quern: localities::latch of -1; accepted: 0 and more");
}

std::atomic<int> g_arrived{0};

// Holds: localities barrier: a phase ends when all have arrived.
TEST_P(control_test, barrier_has_phases) {
    struct party {
        static bool run(barrier steps, int phases) {
            bool is_right = true;
            for (int phase = 1; phase <= phases; ++phase) {
                run_at(0, [] { ++g_arrived; }).get();
                steps.arrive_and_wait().get();
                is_right = is_right &&
                           run_at(0, [] { return g_arrived.load(); }).get() >= 2 * phase * count();
                steps.arrive_and_wait().get();
            }
            steps.arrive_and_drop();
            return is_right;
        }
    };
    if (here() != 0) {
        return;  // one program for all
    }
    g_arrived = 0;
    const barrier steps(count() - 1, 2 * count() + 1);
    std::vector<quern::future<bool>> parties;
    for (int i = 0; i < 2 * count(); ++i) {
        parties.push_back(run_at(i / 2, &party::run, steps, 5));
    }
    steps.arrive_and_drop();
    for (auto& each : parties) {
        EXPECT_TRUE(each.get());
    }
    const barrier none(here(), 1);
    none.arrive_and_drop();
    EXPECT_EQ(error_of(none.arrive_and_wait()).type, "std::invalid_argument");
    EXPECT_EQ(error_of(run_at(here(), [] { barrier(here(), 0); })).message,
              "quern: localities::barrier of 0; accepted: 1 and more");
}

std::atomic<int> g_inside{0};

// Holds: localities semaphore: at most as many as there are permits.
TEST_P(control_test, semaphore_bounds) {
    struct visit {
        static int run(semaphore of) {
            of.acquire().get();
            const int inside = run_at(0, [] { return ++g_inside; }).get();
            run_at(0, [] { --g_inside; }).get();
            of.release();
            return inside;
        }
    };
    if (here() != 0) {
        return;
    }
    g_inside = 0;
    const semaphore one(count() - 1, 2);
    std::vector<quern::future<int>> visits;
    for (int i = 0; i < scaled(100, 30); ++i) {
        visits.push_back(run_at(i % count(), &visit::run, one));
    }
    for (auto& each : visits) {
        EXPECT_LE(each.get(), 2);
    }
    one.acquire().get();
    one.acquire().get();  // both have been given back
    EXPECT_FALSE(one.try_acquire().get());
    auto waiting = one.acquire();
    one.release(2);
    waiting.get();
    EXPECT_TRUE(one.try_acquire().get());
}

TEST(control_without_session, is_refused) {
    EXPECT_THROW(channel<int>(0), std::logic_error);
    std::optional<channel<int>> late;
    {
        own_job job(1);
        late.emplace(here());
        late->send(1).get();
    }
    EXPECT_THROW(late->send(2), std::logic_error);
    EXPECT_THROW(channel<int>().close(), std::logic_error);
}

// Holds: localities channel: a session ends though it is waited for.
TEST(control_at_the_end, futures_that_are_left_are_broken) {
    std::optional<quern::future<std::optional<int>>> left;
    {
        own_job job(1);
        const channel<int> never(next_locality());
        left = never.receive();
    }
    EXPECT_THROW(left->get(), std::exception);
}

}  // namespace
