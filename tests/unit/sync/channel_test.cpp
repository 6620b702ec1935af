// SPDX-License-Identifier: BSL-1.0
// The channel: nothing is lost or doubled, the order is kept, closing, exceptions of values.
#include <quern/sync/channel.hpp>

#include "crew.hpp"
#include "fragile.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

using quern::channel;
using quern_test::crew;
using quern_test::fragile;
using quern_test::k_sanitized;

class channel_test : public quern_test::on_workers {
protected:
    /// Senders and receivers, tasks and threads; the receivers end when the channel is closed.
    void exchange_all(channel<std::unique_ptr<int>>& values) {
        constexpr int k_tasks = 8;
        const int each = k_sanitized ? 100 : 500;
        std::atomic<long> sum{0};
        std::atomic<int> senders{k_tasks + 2};
        const auto send = [&] {
            for (int i = 1; i <= each; ++i) {
                values.send(std::make_unique<int>(i));
            }
            if (--senders == 0) {
                values.close();
            }
        };
        const auto receive = [&] {
            long mine = 0;
            for (const auto& value : values) {
                mine += *value;
            }
            sum += mine;
        };
        for (int i = 0; i < k_tasks; ++i) {
            all.task(send);
            all.task(receive);
        }
        for (int i = 0; i < 2; ++i) {
            all.thread(send);
            all.thread(receive);
        }
        all.finish();
        const long n = each;
        EXPECT_EQ(sum.load(), (k_tasks + 2) * (n * (n + 1) / 2));
        EXPECT_EQ(values.try_receive(), std::nullopt);
    }
};
QUERN_ON_1_2_8_WORKERS(channel_test);

// Holds: channel: Every value that is sent is received once.
// Holds: channel: A range-based for loop...
// Holds: channel: What precedes a send() happens before the return of the receive() that gets the
//     value.
// Holds: channel: T need not be copied.
// Holds: channel: Tasks and threads may use it.
TEST_P(channel_test, loses_and_doubles_nothing) {
    channel<std::unique_ptr<int>> unbounded;
    exchange_all(unbounded);
    for (const std::size_t capacity : {1U, 2U, 16U}) {
        channel<std::unique_ptr<int>> bounded(capacity);
        exchange_all(bounded);
    }
}

// Holds: channel: Values come out in the order in which they were sent.
// Holds: channel: A range-based for loop receives until it is closed and empty.
TEST_P(channel_test, delivers_in_the_order_of_sending) {
    for (const bool bounded : {false, true}) {
        const auto values =
            bounded ? std::make_unique<channel<int>>(3) : std::make_unique<channel<int>>();
        constexpr int k_values = 1'000;
        all.task([&] {
            for (int i = 0; i < k_values; ++i) {
                values->send(i);
            }
            values->close();
        });
        std::vector<int> received;
        all.task([&] {
            for (const int value : *values) {
                received.push_back(value);
            }
        });
        all.finish();
        std::vector<int> expected(k_values);
        std::iota(expected.begin(), expected.end(), 0);
        EXPECT_EQ(received, expected);
    }
}

// Holds: channel: A value goes to the receiver that has waited longest.
TEST_P(channel_test, gives_values_to_receivers_in_the_order_of_their_waiting) {
    constexpr int k_waiting = 20;
    channel<int> values;
    std::vector<int> got(k_waiting, -1);
    for (std::size_t i = 0; i < k_waiting; ++i) {
        all.task([&, i] { got[i] = values.receive().value(); });
        all.settle();
    }
    for (int i = 0; i < k_waiting; ++i) {
        values.send(i);
    }
    all.finish();
    std::vector<int> expected(k_waiting);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(got, expected);
}

// Holds: channel: With a capacity, send() waits while it is full.
// Holds: channel: A slot that becomes free goes to the sender that has waited longest.
TEST_P(channel_test, holds_senders_back_when_it_is_full_and_lets_them_go_on_in_order) {
    constexpr int k_waiting = 10;
    channel<int> values(2);
    EXPECT_TRUE(values.try_send(0));
    EXPECT_TRUE(values.try_send(1));
    int third = 2;
    EXPECT_FALSE(values.try_send(third));
    std::atomic<int> sent{0};
    for (int i = 2; i < 2 + k_waiting; ++i) {
        all.task([&, i] {
            values.send(i);
            ++sent;
        });
        all.settle();
    }
    EXPECT_EQ(sent.load(), 0);
    for (int i = 0; i < 2 + k_waiting; ++i) {
        EXPECT_EQ(values.receive(), i);
        all.settle();
        EXPECT_EQ(sent.load(), std::min(i + 1, k_waiting));
    }
}

// Holds: channel: Without a capacity, send() never waits.
TEST_P(channel_test, without_a_bound_never_holds_a_sender_back) {
    constexpr int k_values = 10'000;
    channel<int> values;
    all.task([&] {
        for (int i = 0; i < k_values; ++i) {
            values.send(i);
        }
    });
    all.finish();  // though nothing has been received yet
    for (int i = 0; i < k_values; ++i) {
        ASSERT_EQ(values.try_receive(), i);
    }
}

// Holds: channel: try_send() sends if there is room; else it returns false and leaves the value
//     alone.
TEST_P(channel_test, try_send_leaves_the_value_alone_when_it_is_full) {
    channel<std::unique_ptr<int>> values(1);
    auto first = std::make_unique<int>(1);
    auto second = std::make_unique<int>(2);
    EXPECT_TRUE(values.try_send(std::move(first)));
    EXPECT_FALSE(values.try_send(std::move(second)));
    ASSERT_NE(second, nullptr);  // NOLINT(bugprone-use-after-move): the test's subject
    EXPECT_EQ(*values.receive().value(), 1);
    EXPECT_TRUE(values.try_send(std::move(second)));
    EXPECT_EQ(*values.receive().value(), 2);
}

// Holds: channel: receive() waits for a...
// Holds: channel: close(): what has been sent is still delivered; to send throws channel_closed.
// Holds: channel: close() a second time does nothing; is_closed() says so.
TEST_P(channel_test, delivers_after_close_what_was_sent_before_and_then_nothing) {
    channel<std::string> values(4);
    values.send("a");
    values.send("b");
    values.close();
    values.close();  // no effect
    EXPECT_TRUE(values.is_closed());
    EXPECT_THROW(values.send("c"), quern::channel_closed);
    EXPECT_THROW((void)values.try_send("c"), quern::channel_closed);
    std::string all_values;
    all.task([&] {
        for (const std::string& value : values) {
            all_values += value;
        }
        EXPECT_EQ(values.receive(), std::nullopt);
    });
    all.finish();
    EXPECT_EQ(all_values, "ab");
}

// Holds: channel: receive() waits for a value; it gives nothing when the channel is closed and
//     empty.
// Holds: channel: close() wakes all waiters: receivers get nothing, senders get channel_closed.
TEST_P(channel_test, lets_all_go_on_that_wait_when_it_is_closed) {
    channel<int> empty;
    channel<int> full(1);
    full.send(1);
    std::atomic<int> nothing{0};
    std::atomic<int> refused{0};
    const auto receive = [&] { nothing += empty.receive() ? 0 : 1; };
    const auto send = [&] {
        try {
            full.send(2);
        } catch (const quern::channel_closed&) {
            ++refused;
        }
    };
    for (int i = 0; i < 10; ++i) {
        all.task(receive);
        all.task(send);
    }
    all.thread(receive);
    all.thread(send);
    all.settle();
    EXPECT_EQ(nothing.load() + refused.load(), 0);
    all.task([&] { empty.close(); });
    all.task([&] { full.close(); });
    all.finish();
    EXPECT_EQ(nothing.load(), 11);
    EXPECT_EQ(refused.load(), 11);
    EXPECT_EQ(full.receive(), 1);
    EXPECT_EQ(full.receive(), std::nullopt);
}

// Holds: channel: try_receive() gives a value if there is one, and does not wait.
// Holds: channel: What moving a value throws is thrown by send() or receive(): a value that cannot
//     be moved in has not been sent, one that cannot be moved out is lost.
TEST_P(channel_test, throws_what_a_value_throws_and_goes_on_with_the_slot) {
    int living = 0;
    channel<fragile> values(1);
    EXPECT_THROW(values.send(fragile(0, living)), std::runtime_error);
    EXPECT_FALSE(values.try_receive().has_value());  // not sent
    values.send(fragile(1, living));
    EXPECT_THROW((void)values.receive(), std::runtime_error);
    EXPECT_EQ(living, 0);
    values.send(fragile(10, living));  // there is room again
    EXPECT_EQ(living, 1);
    EXPECT_TRUE(values.receive().has_value());
    EXPECT_EQ(living, 0);
}

// Holds: channel: Values that are left are destroyed with the channel.
TEST_P(channel_test, destroys_the_values_that_are_left) {
    int living = 0;
    {
        channel<fragile> bounded(4);
        channel<fragile> unbounded;
        for (int i = 0; i < 3; ++i) {
            bounded.send(fragile(10, living));
            unbounded.send(fragile(10, living));
        }
        (void)bounded.receive();
        EXPECT_EQ(living, 5);
    }
    EXPECT_EQ(living, 0);
}

// Holds: channel: A receiver may destroy the channel when it has got a value, while the send() has
//     not returned.
TEST_P(channel_test, is_destroyed_by_the_receiver_right_after_the_last_value) {
    const int rounds = k_sanitized ? 2'000 : 20'000;
    for (int i = 0; i < rounds; ++i) {
        auto values =
            i % 2 == 0 ? std::make_unique<channel<int>>() : std::make_unique<channel<int>>(1);
        all.task([&c = *values] { c.send(42); });
        ASSERT_EQ(values->receive(), 42);
    }
    for (int i = 0; i < rounds; ++i) {
        all.task([this, i] {
            auto values =
                i % 2 == 0 ? std::make_unique<channel<int>>() : std::make_unique<channel<int>>(1);
            all.task([&c = *values] { c.send(42); });
            EXPECT_EQ(values->receive(), 42);
        });
        if (i % 100 == 0) {
            all.finish();
        }
    }
}

// Holds: channel: A receiver may destroy the channel when it has learnt that it is closed.
TEST_P(channel_test, is_destroyed_by_the_receiver_right_after_it_has_been_closed) {
    const int rounds = k_sanitized ? 2'000 : 20'000;
    for (int i = 0; i < rounds; ++i) {
        auto values =
            i % 2 == 0 ? std::make_unique<channel<int>>() : std::make_unique<channel<int>>(1);
        all.task([&c = *values] {
            c.send(42);
            c.close();
        });
        int sum = 0;
        for (const int value : *values) {
            sum += value;
        }
        ASSERT_EQ(sum, 42);
    }
}

// Holds: channel: A sender may destroy the channel when it has learnt that it is closed.
TEST_P(channel_test, is_destroyed_by_the_sender_right_after_it_has_been_closed) {
    const int rounds = k_sanitized ? 2'000 : 20'000;
    for (int i = 0; i < rounds; ++i) {
        auto values =
            i % 2 == 0 ? std::make_unique<channel<int>>() : std::make_unique<channel<int>>(1);
        all.task([&c = *values] { c.close(); });
        const auto send = [&values] {
            for (;;) {
                values->send(1);
                static_cast<void>(values->try_receive());
            }
        };
        ASSERT_THROW(send(), quern::channel_closed);
    }
}

// Holds: channel: Every value that is sent...
// Holds: channel: Values come out in the order...
TEST_P(channel_test, keeps_the_order_of_each_sender_through_bursts) {
    constexpr int k_senders = 3;
    const int each = k_sanitized ? 2'000 : 20'000;
    channel<std::pair<int, int>> values;
    std::atomic<int> senders{k_senders};
    for (int s = 0; s < k_senders; ++s) {
        all.task([&, s] {
            for (int i = 0; i < each; ++i) {
                values.send({s, i});
            }
            if (--senders == 0) {
                values.close();
            }
        });
    }
    std::atomic<int> received{0};
    std::atomic<int> disorder{0};
    for (int r = 0; r < 2; ++r) {
        all.task([&] {
            std::array<int, k_senders> last{-1, -1, -1};
            for (const auto& [s, i] : values) {
                auto& before = last.at(static_cast<std::size_t>(s));
                disorder += i <= before ? 1 : 0;
                before = i;
                ++received;
            }
        });
    }
    all.finish();
    EXPECT_EQ(received.load(), k_senders * each);
    EXPECT_EQ(disorder.load(), 0);
}

// Holds: channel: A capacity of 0 is std::invalid_argument.
TEST(channel_test_of_limits, a_capacity_of_zero_is_an_error) {
    EXPECT_THROW(channel<int>(0), std::invalid_argument);
}

}  // namespace
