// SPDX-License-Identifier: BSL-1.0
// The full/empty cell: the state that each operation waits for and leaves, the order, exceptions of
// values.
#include <quern/sync/full_empty.hpp>

#include "crew.hpp"

#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>

namespace {

using quern::full_empty;
using quern_test::crew;
using quern_test::k_sanitized;

class full_empty_test : public quern_test::on_workers {};
QUERN_ON_1_2_8_WORKERS(full_empty_test);

// Holds: full_empty: read_fe waits until it is full, moves the value out, and leaves it empty.
// Holds: full_empty: What precedes a write happens before the return of the read that gets the
//     value.
// Holds: full_empty: Tasks and threads may use it.
TEST_P(full_empty_test, hands_over_every_value_once) {
    constexpr int k_tasks = 10;
    constexpr int k_threads = 2;
    const int each = k_sanitized ? 200 : 2'000;
    full_empty<std::unique_ptr<int>> cell;
    std::atomic<long> sum{0};
    const auto write = [&] {
        for (int i = 1; i <= each; ++i) {
            cell.write_ef(std::make_unique<int>(i));
        }
    };
    const auto read = [&] {
        long mine = 0;
        for (int i = 0; i < each; ++i) {
            mine += *cell.read_fe();
        }
        sum += mine;
    };
    for (int i = 0; i < k_tasks; ++i) {
        all.task(write);
        all.task(read);
    }
    for (int i = 0; i < k_threads; ++i) {
        all.thread(write);
        all.thread(read);
    }
    all.finish();
    const long n = each;
    EXPECT_EQ(sum.load(), (k_tasks + k_threads) * (n * (n + 1) / 2));
    EXPECT_FALSE(cell.is_full());
}

// Holds: full_empty: read_ff waits until it is full, copies the value, and leaves it full.
// Holds: full_empty: is_full(): whether it is full now.
TEST_P(full_empty_test, read_ff_waits_until_it_is_full_and_leaves_it_full) {
    constexpr int k_readers = 20;
    full_empty<std::string> cell;
    std::atomic<int> right{0};
    const auto read = [&] { right += cell.read_ff() == "hello" ? 1 : 0; };
    for (int i = 0; i < k_readers; ++i) {
        all.task(read);
    }
    all.thread(read);
    all.settle();
    EXPECT_EQ(right.load(), 0);
    cell.write_ef("hello");
    all.finish();
    EXPECT_EQ(right.load(), k_readers + 1);
    EXPECT_TRUE(cell.is_full());
    EXPECT_EQ(cell.read_fe(), "hello");
}

// Holds: full_empty: By default it is...
// Holds: full_empty: write_ef waits until it is empty, and leaves it full.
TEST_P(full_empty_test, write_ef_waits_until_it_is_empty) {
    full_empty<int> cell(1);
    std::atomic<bool> written{false};
    all.task([&] {
        cell.write_ef(2);
        written = true;
    });
    all.settle();
    EXPECT_FALSE(written.load());
    EXPECT_EQ(cell.read_fe(), 1);
    all.finish();
    EXPECT_EQ(cell.read_ff(), 2);
}

// Holds: full_empty: By default it is empty, with a value full.
// Holds: full_empty: write_f writes and leaves it full, whatever it was.
// Holds: full_empty: purge makes it empty, whatever it was; the value becomes T().
// Holds: full_empty: fill makes it full, whatever it was, with the value that is in it.
// Holds: full_empty: write_f, purge and fill wake the waiters for the new state.
TEST_P(full_empty_test, write_f_purge_and_fill_do_not_wait) {
    full_empty<int> cell;
    cell.write_f(1);
    cell.write_f(2);
    EXPECT_EQ(cell.read_ff(), 2);
    cell.purge();
    cell.purge();
    EXPECT_FALSE(cell.is_full());
    cell.fill();
    EXPECT_EQ(cell.read_ff(), 0);
    cell.write_f(3);
    EXPECT_EQ(cell.read_fe(), 3);
    cell.fill();  // the value that was read is still there
    EXPECT_EQ(cell.read_fe(), 3);
    std::atomic<int> passed{0};
    all.task([&] { passed += cell.read_ff() == 7 ? 1 : 0; });
    all.settle();
    cell.write_f(7);
    all.finish();
    all.task([&] {
        cell.write_ef(8);
        ++passed;
    });
    all.settle();
    EXPECT_EQ(passed.load(), 1);
    cell.purge();
    all.finish();
    EXPECT_EQ(passed.load(), 2);
    EXPECT_EQ(cell.read_fe(), 8);
}

// Holds: full_empty: The next operation to resume is the longest waiter among those that the new
//     state permits.
TEST_P(full_empty_test, gives_turns_in_the_order_of_waiting) {
    constexpr int k_waiting = 20;
    full_empty<int> cell;
    std::vector<int> got(k_waiting, -1);
    for (std::size_t i = 0; i < k_waiting; ++i) {
        all.task([&, i] { got[i] = i % 3 == 0 ? cell.read_ff() : cell.read_fe(); });
        all.settle();
    }
    std::vector<int> expected;
    int value = 0;
    for (int i = 0; i < k_waiting; ++i) {
        expected.push_back(value);
        value += i % 3 == 0 ? 0 : 1;
    }
    for (int v = 0; v < value; ++v) {
        cell.write_ef(v);
    }
    all.finish();
    EXPECT_EQ(got, expected);
    for (int i = 0; i < k_waiting; ++i) {
        all.task([&, i] { cell.write_ef(i); });
        all.settle();
    }
    for (int i = 0; i < k_waiting; ++i) {
        EXPECT_EQ(cell.read_fe(), i);
    }
}

/// Whether the cell may be locked while the value is being moved: its moves suspend.
struct slow {
    slow() = default;
    explicit slow(int v) : value(v) {}
    slow(slow&& other) noexcept : value(other.value) { rest(); }
    slow& operator=(slow&& other) noexcept {
        value = -1;
        rest();
        value = other.value;
        return *this;
    }
    static void rest() {
        if (quern::detail::current_context() != nullptr) {
            quern_test::let_others_run();
        }
    }
    int value = 0;
};

// Holds: full_empty: Each operation has the cell for itself while it moves the value, which happens
//     in the caller's task and may suspend.
TEST_P(full_empty_test, lets_nobody_see_a_value_that_is_being_moved) {
    constexpr int k_rounds = 50;
    full_empty<slow> cell;
    std::atomic<int> sum{0};
    for (int t = 0; t < 6; ++t) {
        all.task([&] {
            for (int i = 0; i < k_rounds; ++i) {
                cell.write_ef(slow(1));
            }
        });
        all.task([&] {
            for (int i = 0; i < k_rounds; ++i) {
                sum += cell.read_fe().value;
            }
        });
    }
    all.finish();
    EXPECT_EQ(sum.load(), 6 * k_rounds);
}

struct throws_when_assigned {
    throws_when_assigned() = default;
    explicit throws_when_assigned(bool t) : throws(t) {}
    throws_when_assigned(throws_when_assigned&&) = default;
    throws_when_assigned& operator=(throws_when_assigned&& other) {
        if (other.throws) {
            throw std::runtime_error("not this one");
        }
        return *this;
    }
    bool throws = false;
};

// Holds: full_empty: is_full(): whether it is...
// Holds: full_empty: An exception of T reaches the caller and leaves the bit as it was.
TEST_P(full_empty_test, stays_as_it_was_when_the_value_throws) {
    full_empty<throws_when_assigned> cell;
    EXPECT_THROW(cell.write_ef(throws_when_assigned(true)), std::runtime_error);
    EXPECT_FALSE(cell.is_full());
    EXPECT_THROW(cell.write_f(throws_when_assigned(true)), std::runtime_error);
    EXPECT_FALSE(cell.is_full());
    cell.write_ef(throws_when_assigned(false));
    EXPECT_THROW(cell.write_f(throws_when_assigned(true)), std::runtime_error);
    EXPECT_TRUE(cell.is_full());
    cell.read_fe();
    EXPECT_FALSE(cell.is_full());
}

// Holds: full_empty: It may be destroyed as soon as there is no waiter and every operation has
//     returned, but for the one that woke the last waiter.
TEST_P(full_empty_test, is_destroyed_by_the_reader_right_after_the_last_value) {
    const int rounds = k_sanitized ? 2'000 : 20'000;
    for (int i = 0; i < rounds; ++i) {
        auto cell = std::make_unique<full_empty<int>>();
        all.task([&c = *cell] { c.write_ef(42); });
        ASSERT_EQ(cell->read_fe(), 42);
    }
    for (int i = 0; i < rounds; ++i) {
        all.task([this] {
            auto cell = std::make_unique<full_empty<int>>();
            all.task([&c = *cell] { c.write_ef(42); });
            EXPECT_EQ(cell->read_fe(), 42);
        });
        if (i % 100 == 0) {
            all.finish();
        }
    }
}

}  // namespace
