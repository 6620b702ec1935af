// SPDX-License-Identifier: BSL-1.0
// The semaphores: permits are neither lost nor doubled, go to the waiters in their order, and the
// semaphore may be destroyed when they have arrived.
#include <quern/sync/semaphore.hpp>

#include "crew.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <type_traits>

namespace {

using quern_test::crew;
using quern_test::k_sanitized;

class semaphore_test : public quern_test::on_workers {};
QUERN_ON_1_2_8_WORKERS(semaphore_test);

/// A ring guarded only by semaphores.
struct bounded_buffer {
    static constexpr std::size_t k_slots = 8;
    void put(int value) {
        free.acquire();
        in.acquire();
        slots[head++ % k_slots] = value;
        in.release();
        filled.release();
    }
    int get() {
        filled.acquire();
        out.acquire();
        const int value = slots[tail++ % k_slots];
        out.release();
        free.release();
        return value;
    }
    quern::counting_semaphore<k_slots> free{k_slots};
    quern::counting_semaphore<k_slots> filled{0};
    quern::binary_semaphore in{1};
    quern::binary_semaphore out{1};
    std::array<int, k_slots> slots{};
    std::size_t head = 0;
    std::size_t tail = 0;
};

// Holds: counting_semaphore: acquire() takes a permit and waits until there is one.
// Holds: counting_semaphore: What precedes a release() happens before the return of the acquire()
//     that gets the permit.
// Holds: counting_semaphore: A permit may be released by another task than took it.
// Holds: counting_semaphore: Tasks and threads may use it.
TEST_P(semaphore_test, a_bounded_buffer_loses_nothing) {
    constexpr int k_tasks = 10;
    constexpr int k_threads = 2;
    const int each = k_sanitized ? 200 : 1'000;
    bounded_buffer buffer;
    std::atomic<long> sum{0};
    const auto produce = [&] {
        for (int i = 1; i <= each; ++i) {
            buffer.put(i);
        }
    };
    const auto consume = [&] {
        long mine = 0;
        for (int i = 0; i < each; ++i) {
            mine += buffer.get();
        }
        sum += mine;
    };
    for (int i = 0; i < k_tasks; ++i) {
        all.task(produce);
        all.task(consume);
    }
    for (int i = 0; i < k_threads; ++i) {
        all.thread(produce);
        all.thread(consume);
    }
    all.finish();
    const long n = each;
    EXPECT_EQ(sum.load(), (k_tasks + k_threads) * (n * (n + 1) / 2));
}

// Holds: counting_semaphore: Never more are inside than there are permits.
// Holds: counting_semaphore: try_acquire() takes a permit...
TEST_P(semaphore_test, never_lets_in_more_than_there_are_permits) {
    constexpr int k_permits = 3;
    quern::counting_semaphore<> permits(k_permits);
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    for (int i = 0; i < 300; ++i) {
        all.task([&] {
            permits.acquire();
            const int now = ++inside;
            int seen = most.load();
            while (now > seen && !most.compare_exchange_weak(seen, now)) {
            }
            quern_test::let_others_run();
            --inside;
            permits.release();
        });
    }
    all.finish();
    EXPECT_LE(most.load(), k_permits);
    for (int i = 0; i < k_permits; ++i) {
        EXPECT_TRUE(permits.try_acquire());
    }
    EXPECT_FALSE(permits.try_acquire());
}

// Holds: counting_semaphore: release(n) gives n permits and wakes n waiters; n may be 0.
// Holds: counting_semaphore: Permits go to the waiters in their order. **Differs**: unspecified
//     there.
TEST_P(semaphore_test, a_release_of_n_lets_the_first_n_go_on) {
    constexpr int k_waiting = 20;
    quern::counting_semaphore<100> permits(0);
    std::vector<int> order;
    quern::binary_semaphore guard(1);
    for (int i = 0; i < k_waiting; ++i) {
        all.task([&, i] {
            permits.acquire();
            guard.acquire();
            order.push_back(i);
            guard.release();
        });
        all.settle();
    }
    for (int i = 0; i < k_waiting; i += 4) {
        permits.release(4);
        all.settle();
        guard.acquire();
        EXPECT_EQ(order.size(), static_cast<std::size_t>(i) + 4);
        std::sort(order.begin() + i, order.end());  // the four may overtake one another once awake
        guard.release();
    }
    permits.release(2);
    all.finish();
    std::vector<int> expected(k_waiting);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(order, expected);
    EXPECT_TRUE(permits.try_acquire());
    EXPECT_TRUE(permits.try_acquire());
    EXPECT_FALSE(permits.try_acquire());
}

// Holds: counting_semaphore: While there is a waiter no other acquire() succeeds.
TEST_P(semaphore_test, gives_a_permit_to_the_one_that_waits_and_to_nobody_else) {
    quern::counting_semaphore<> permits(0);
    std::atomic<int> passed{0};
    for (int round = 1; round <= 50; ++round) {
        all.task([&] {
            permits.acquire();
            ++passed;
        });
        all.settle();
        EXPECT_FALSE(permits.try_acquire());
        permits.release();
        EXPECT_FALSE(permits.try_acquire());  // whether the waiter is awake yet or not
        all.finish();
        EXPECT_EQ(passed.load(), round);
    }
}

// Holds: counting_semaphore: It may be destroyed as soon as every acquire() has returned, while the
//     release() that let it has not.
TEST_P(semaphore_test, is_destroyed_right_after_acquire) {
    const int rounds = k_sanitized ? 2'000 : 20'000;
    for (int i = 0; i < rounds; ++i) {
        auto done = std::make_unique<quern::binary_semaphore>(0);
        all.task([&s = *done] { s.release(); });
        done->acquire();
    }
    for (int i = 0; i < rounds; ++i) {
        all.task([this] {
            auto done = std::make_unique<quern::counting_semaphore<>>(0);
            all.task([&s = *done] { s.release(); });
            all.task([&s = *done] { s.release(); });
            done->acquire();
            done->acquire();
        });
        if (i % 100 == 0) {
            all.finish();
        }
    }
}

// Holds: counting_semaphore: max() is LeastMax, which...
// Holds: counting_semaphore: A count that is not in 0..max() is std::invalid_argument. **Differs**:
//     undefined there.
// Holds: counting_semaphore: try_acquire() takes a permit if there is one, always. **Differs**: may
//     fail spuriously there.
// Holds: counting_semaphore: release(n) gives n permits...
TEST(semaphore_test_of_limits, a_count_out_of_range_is_an_error) {
    EXPECT_THROW(quern::binary_semaphore(2), std::invalid_argument);
    EXPECT_THROW(quern::counting_semaphore<>(-1), std::invalid_argument);
    EXPECT_EQ(quern::counting_semaphore<7>::max(), 7);
    quern::binary_semaphore one(1);
    EXPECT_TRUE(one.try_acquire());
    one.release(0);
    EXPECT_FALSE(one.try_acquire());
}

// Holds: counting_semaphore: max() is LeastMax, which...
TEST(semaphore_test_of_limits, cannot_be_copied_and_binary_means_one) {
    EXPECT_FALSE(std::is_copy_constructible_v<quern::binary_semaphore>);
    EXPECT_FALSE(std::is_move_constructible_v<quern::binary_semaphore>);
    EXPECT_FALSE(std::is_copy_assignable_v<quern::binary_semaphore>);
    EXPECT_EQ(quern::binary_semaphore::max(), 1);
    EXPECT_TRUE((std::is_same_v<quern::binary_semaphore, quern::counting_semaphore<1>>));
}

// Holds: counting_semaphore: release() of more than...
TEST(semaphore_death_test, releasing_above_the_maximum_aborts) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(quern::binary_semaphore(1).release(), "above its maximum");
    EXPECT_DEATH(quern::counting_semaphore<>(1).release(-1), "not in 0..max");
}

}  // namespace
