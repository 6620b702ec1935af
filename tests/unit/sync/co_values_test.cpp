// SPDX-License-Identifier: BSL-1.0
// co_await on channels and full/empty cells: nothing is lost or doubled, coroutines wait in one
// queue with tasks and threads, closing ends their waits, exceptions of values.
#include <quern/sync/channel.hpp>
#include <quern/sync/full_empty.hpp>
#include <quern/task/coroutine.hpp>

#include "coroutines.hpp"
#include "fragile.hpp"

#include <atomic>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using quern::channel;
using quern::full_empty;
using quern::future;
using quern::start;
using quern::task;
using quern_test::foreign;
using quern_test::fragile;
using quern_test::scaled;

using numbers = channel<std::unique_ptr<int>>;

task<long> sum_of(numbers& from) {
    long sum = 0;
    while (auto value = co_await from.co_receive()) {
        sum += **value;
    }
    co_return sum;
}

task<> send_up_to(int last, numbers& to) {
    for (int i = 1; i <= last; ++i) {
        co_await to.co_send(std::make_unique<int>(i));
    }
}

class co_values_test : public quern_test::on_coroutines {
protected:
    /// Coroutines, tasks and threads send and receive.
    void exchange_all(numbers& values) {
        constexpr int k_each_way = 4;
        const int last = scaled(500, 100);
        std::vector<future<void>> sent;
        std::vector<future<long>> sums;
        std::vector<std::thread> threads;
        const auto send = [&] {
            for (int i = 1; i <= last; ++i) {
                values.send(std::make_unique<int>(i));
            }
        };
        const auto receive = [&] {
            long sum = 0;
            for (const auto& value : values) {
                sum += *value;
            }
            return sum;
        };
        for (int i = 0; i < k_each_way; ++i) {
            sent.push_back(start(rt, send_up_to(last, values)));
            sent.push_back(quern::async(rt, send));
            sums.push_back(start(rt, sum_of(values)));
            sums.push_back(quern::async(rt, receive));
        }
        std::atomic<long> sum_outside{0};
        std::thread sender(send);
        std::thread receiver([&] { sum_outside = receive(); });
        for (auto& s : sent) {
            s.get();
        }
        sender.join();
        values.close();
        receiver.join();
        long sum = sum_outside;
        for (auto& s : sums) {
            sum += s.get();
        }
        const long n = last;
        EXPECT_EQ(sum, (2 * k_each_way + 1) * (n * (n + 1) / 2));
        EXPECT_EQ(values.try_receive(), std::nullopt);
    }
};
QUERN_ON_ALL_POLICIES(co_values_test);

// Holds: co_await on synchronisation: co_receive() and co_send(): nothing is lost or doubled, in
//     the order of sending.
TEST_P(co_values_test, a_channel_loses_and_doubles_nothing) {
    numbers unbounded;
    exchange_all(unbounded);
    for (const std::size_t capacity : {1U, 16U}) {
        numbers bounded(capacity);
        exchange_all(bounded);
    }
}

// Holds: co_await on synchronisation: co_receive() and co_send(): nothing...
TEST_P(co_values_test, a_channel_delivers_in_the_order_of_sending) {
    constexpr int k_values = 300;
    const auto sends = [](channel<int>& to) -> task<> {
        for (int i = 0; i < k_values; ++i) {
            co_await to.co_send(i);
        }
        to.close();
    };
    const auto receives = [](channel<int>& from) -> task<std::vector<int>> {
        std::vector<int> all;
        while (const auto value = co_await from.co_receive()) {
            all.push_back(*value);
        }
        co_return all;
    };
    channel<int> values(3);
    auto received = start(rt, receives(values));
    auto sent = start(rt, sends(values));
    std::vector<int> expected(k_values);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(received.get(), expected);
    sent.get();
}

// Holds: co_await on synchronisation: Coroutines, tasks and threads...
TEST_P(co_values_test, a_channel_gives_values_to_all_who_wait_in_their_order) {
    constexpr int k_waiting = 18;
    channel<int> values;
    std::vector<int> got(k_waiting, -1);
    const auto place = [&got](int i) -> int& { return got[static_cast<std::size_t>(i)]; };
    const auto receives = [](channel<int>& from, int& to) -> task<> {
        to = (co_await from.co_receive()).value();
    };
    come_in_turns(
        k_waiting, [&](int i) { return receives(values, place(i)); },
        [&](int i) { place(i) = values.receive().value(); });
    for (int i = 0; i < k_waiting; ++i) {
        values.send(i);
    }
    let_all_end();
    std::vector<int> expected(k_waiting);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(got, expected);
}

// Holds: co_await on synchronisation: co_send() waits while the channel is full; waiters resume in
//     their order.
TEST_P(co_values_test, a_full_channel_holds_coroutines_back_and_lets_them_go_on_in_order) {
    constexpr int k_waiting = 10;
    channel<int> values(2);
    values.send(0);
    values.send(1);
    std::atomic<int> sent{0};
    std::vector<future<void>> ended;
    const auto sends = [](channel<int>& to, int value, std::atomic<int>& count) -> task<> {
        co_await to.co_send(value);
        ++count;
    };
    for (int i = 2; i < 2 + k_waiting; ++i) {
        ended.push_back(start(rt, sends(values, i, sent)));
        settle();
    }
    EXPECT_EQ(sent.load(), 0);
    for (int i = 0; i < 2 + k_waiting; ++i) {
        EXPECT_EQ(values.receive(), i);
        settle();
        EXPECT_EQ(sent.load(), std::min(i + 1, k_waiting));
    }
    for (auto& e : ended) {
        e.get();
    }
}

// Holds: co_await on synchronisation: close() wakes all waiters: co_receive() gives nothing,
//     co_send() throws channel_closed.
TEST_P(co_values_test, closing_a_channel_lets_all_go_on) {
    channel<int> empty;
    channel<int> full(1);
    full.send(1);
    const auto receives = [](channel<int>& from) -> task<bool> {
        co_return (co_await from.co_receive()).has_value();
    };
    const auto sends = [](channel<int>& to) -> task<> { co_await to.co_send(2); };
    std::vector<future<bool>> nothing;
    std::vector<future<void>> refused;
    for (int i = 0; i < 10; ++i) {
        nothing.push_back(start(rt, receives(empty)));
        refused.push_back(start(rt, sends(full)));
    }
    settle();
    empty.close();
    full.close();
    for (auto& n : nothing) {
        EXPECT_FALSE(n.get());
    }
    for (auto& r : refused) {
        EXPECT_THROW(r.get(), quern::channel_closed);
    }
    EXPECT_FALSE(start(rt, receives(empty)).get());
    EXPECT_THROW(start(rt, sends(full)).get(), quern::channel_closed);
    EXPECT_THROW(start(rt, sends(empty)).get(), quern::channel_closed);
    EXPECT_TRUE(start(rt, receives(full)).get());  // the values sent before
    EXPECT_FALSE(start(rt, receives(full)).get());
}

// Holds: co_await on synchronisation: co_await does not suspend...
TEST_P(co_values_test, threads_outside_run_through_when_there_are_values_and_places) {
    channel<int> values(1);
    full_empty<int> cell;
    int sum = 0;
    const auto runs_through = [](channel<int>& c, full_empty<int>& f, int& to) -> foreign {
        co_await c.co_send(1);
        to += (co_await c.co_receive()).value();
        co_await f.co_write_ef(2);
        co_await f.co_write_f(3);
        to += co_await f.co_read_ff();
        to += co_await f.co_read_fe();
        to = quern::detail::current_context() == nullptr ? to : -1;
    };
    runs_through(values, cell, sum);
    EXPECT_EQ(sum, 7);
}

// Holds: co_await on synchronisation: What moving a value throws is thrown by co_await, and the
//     slot is there again.
TEST_P(co_values_test, what_moving_a_value_throws_reaches_the_coroutine) {
    const auto sends = [](channel<fragile>& to, int moves, int& living) -> task<> {
        co_await to.co_send(fragile(moves, living));
    };
    const auto receives = [](channel<fragile>& from) -> task<> { co_await from.co_receive(); };
    for (int moves = 0; moves < 8; ++moves) {
        int living = 0;
        channel<fragile> values(1);
        bool sent = true;
        try {
            start(rt, sends(values, moves, living)).get();
        } catch (const std::runtime_error&) {
            sent = false;
        }
        EXPECT_EQ(living, sent ? 1 : 0);
        if (sent) {
            try {
                start(rt, receives(values)).get();
            } catch (const std::runtime_error&) {
            }
            EXPECT_EQ(living, 0);
        }
        EXPECT_TRUE(values.try_send(fragile(10, living))) << "the slot is there again";
    }
}

// Holds: co_await on synchronisation: The coroutine may destroy...
TEST_P(co_values_test, a_receiver_may_destroy_the_channel_right_after_the_last_value) {
    const int rounds = scaled(3'000, 300);
    const auto destroys = [](std::unique_ptr<channel<int>> values) -> task<int> {
        co_return (co_await values->co_receive()).value();
    };
    std::vector<future<int>> ended;
    for (int i = 0; i < rounds; ++i) {
        auto values =
            i % 2 == 0 ? std::make_unique<channel<int>>() : std::make_unique<channel<int>>(1);
        channel<int>& to = *values;
        ended.push_back(start(rt, destroys(std::move(values))));
        to.send(42);
    }
    for (auto& e : ended) {
        ASSERT_EQ(e.get(), 42);
    }
}

// Holds: co_await on synchronisation: co_read_fe() and similar functions...
TEST_P(co_values_test, a_cell_hands_values_from_coroutines_to_tasks_and_back) {
    constexpr int k_values = scaled(1'000, 100);
    full_empty<std::unique_ptr<int>> there;
    full_empty<std::unique_ptr<int>> back;
    const auto adds_one = [](auto& from, auto& to) -> task<> {
        for (int i = 0; i < k_values; ++i) {
            auto value = co_await from.co_read_fe();
            ++*value;
            co_await to.co_write_ef(std::move(value));
        }
    };
    auto ended = start(rt, adds_one(there, back));
    inside([&] {
        for (int i = 0; i < k_values; ++i) {
            there.write_ef(std::make_unique<int>(i));
            EXPECT_EQ(*back.read_fe(), i + 1);
        }
    });
    ended.get();
}

// Holds: co_await on synchronisation: co_read_fe() and similar functions wait for the state that
//     their names say.
TEST_P(co_values_test, a_cell_lets_each_wait_for_its_state) {
    full_empty<int> cell;
    const auto reads = [](full_empty<int>& from) -> task<int> {
        const int seen = co_await from.co_read_ff();
        co_return seen + co_await from.co_read_fe();
    };
    const auto writes = [](full_empty<int>& to) -> task<> {
        co_await to.co_write_ef(2);
        co_await to.co_write_f(3);
    };
    auto sum = start(rt, reads(cell));
    settle();
    EXPECT_FALSE(sum.is_ready());
    cell.write_ef(1);
    EXPECT_EQ(sum.get(), 2);
    cell.fill();
    auto written = start(rt, writes(cell));
    settle();
    EXPECT_FALSE(written.is_ready());
    cell.purge();
    written.get();
    EXPECT_EQ(cell.read_fe(), 3);
}

}  // namespace
