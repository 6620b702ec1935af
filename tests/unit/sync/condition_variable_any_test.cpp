// SPDX-License-Identifier: BSL-1.0
// The condition variable for any lock: nothing is lost, the order is kept, a stop request ends the
// wait.
#include <quern/sync/condition_variable_any.hpp>

#include <quern/sync/mutex.hpp>
#include <quern/sync/recursive_mutex.hpp>
#include <quern/sync/shared_mutex.hpp>

#include "crew.hpp"

#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <type_traits>

namespace {

using quern_test::crew;
using quern_test::k_sanitized;

class condition_variable_any_test : public quern_test::on_workers {};
QUERN_ON_1_2_8_WORKERS(condition_variable_any_test);

/// Two tasks that alternate, with any mutex.
template <class Mutex>
void ping_pong(crew& all, bool with_thread) {
    const int each = k_sanitized ? 200 : 1'000;
    Mutex m;
    quern::condition_variable_any changed;
    int turn = 0;
    const auto play = [&](int me) {
        for (int i = 0; i < each; ++i) {
            std::unique_lock lock(m);
            changed.wait(lock, [&] { return turn == me; });
            EXPECT_TRUE(lock.owns_lock());
            turn = 1 - me;
            changed.notify_one();
        }
    };
    all.task([&] { play(0); });
    if (with_thread) {
        all.thread([&] { play(1); });
    } else {
        all.task([&] { play(1); });
    }
    all.finish();
    EXPECT_EQ(turn, 0);
}

// Holds: condition_variable_any: wait() takes a lock of any type, and returns with it held.
TEST_P(condition_variable_any_test, holds_the_lock_when_wait_returns_whatever_its_type) {
    ping_pong<quern::mutex>(all, false);
    ping_pong<quern::recursive_mutex>(all, false);
    ping_pong<quern::shared_mutex>(all, false);
    ping_pong<quern::mutex>(all, true);
}

// Holds: condition_variable_any: Readers of a shared mutex may wait.
// Holds: condition_variable_any: wait() with a predicate returns when it is true.
// Holds: condition_variable_any: notify_all() wakes all present waiters.
TEST_P(condition_variable_any_test, lets_readers_of_a_shared_mutex_wait) {
    constexpr int k_waiting = 50;
    quern::shared_mutex m;
    quern::condition_variable_any changed;
    bool ready = false;
    std::atomic<int> passed{0};
    const auto wait = [&] {
        std::shared_lock lock(m);
        changed.wait(lock, [&] { return ready; });
        ++passed;
    };
    for (int i = 0; i < k_waiting; ++i) {
        all.task(wait);
    }
    all.thread(wait);
    all.settle();
    EXPECT_EQ(passed.load(), 0);
    {
        const std::unique_lock lock(m);
        ready = true;
    }
    changed.notify_all();
    all.finish();
    EXPECT_EQ(passed.load(), k_waiting + 1);
}

// Holds: condition_variable_any: notify_one() wakes the longest waiter, if any. **Differs**:
//     unspecified there.
// Holds: condition_variable_any: There are no spurious wake-ups but those of a stop request.
//     **Differs**: allowed there.
TEST_P(condition_variable_any_test, notify_one_lets_the_first_go_on_and_nobody_else) {
    constexpr int k_waiting = 20;
    quern::mutex m;
    quern::condition_variable_any changed;
    std::vector<int> order;
    for (int i = 0; i < k_waiting; ++i) {
        all.task([&, i] {
            std::unique_lock lock(m);
            changed.wait(lock);
            order.push_back(i);
        });
        all.settle();
    }
    for (int i = 0; i < k_waiting; ++i) {
        changed.notify_one();
        all.settle();
        const std::scoped_lock lock(m);
        ASSERT_EQ(order.size(), static_cast<std::size_t>(i) + 1);
        EXPECT_EQ(order.back(), i);
    }
    changed.notify_one();  // no waiter: forgotten
    changed.notify_all();
}

// Holds: condition_variable_any: With a stop token: the wait ends when a stop is requested; the
//     lock is held then.
// Holds: condition_variable_any: wait() with a stop token returns what the predicate returned last.
TEST_P(condition_variable_any_test, a_stop_request_ends_the_wait_also_when_it_comes_first) {
    quern::mutex m;
    quern::condition_variable_any changed;
    std::stop_source source;
    std::atomic<int> stopped{0};
    const auto wait = [&] {
        std::unique_lock lock(m);
        const bool ready = changed.wait(lock, source.get_token(), [] { return false; });
        EXPECT_TRUE(lock.owns_lock());
        stopped += ready ? 0 : 1;
    };
    for (int i = 0; i < 10; ++i) {
        all.task(wait);
    }
    all.thread(wait);
    all.settle();
    EXPECT_EQ(stopped.load(), 0);
    all.task([&] { source.request_stop(); });
    all.finish();
    EXPECT_EQ(stopped.load(), 11);
    all.task(wait);
    all.finish();
    EXPECT_EQ(stopped.load(), 12);
    std::unique_lock lock(m);
    EXPECT_TRUE(changed.wait(lock, source.get_token(), [] { return true; }));
}

// Holds: condition_variable_any: A stop request is not lost, whenever it comes.
TEST_P(condition_variable_any_test, a_stop_request_at_any_moment_is_not_lost) {
    const int rounds = k_sanitized ? 300 : 3'000;
    for (int i = 0; i < rounds; ++i) {
        quern::mutex m;
        quern::condition_variable_any changed;
        std::stop_source source;
        all.task([&] {
            std::unique_lock lock(m);
            changed.wait(lock, source.get_token(), [] { return false; });
        });
        source.request_stop();
        all.finish();
    }
}

// Holds: condition_variable_any: A stop request is...
TEST_P(condition_variable_any_test, a_stop_request_between_the_look_and_the_wait_is_not_lost) {
    quern::mutex m;
    quern::condition_variable_any changed;
    std::stop_source source;
    all.task([&] {
        std::unique_lock lock(m);
        EXPECT_FALSE(changed.wait(lock, source.get_token(), [&] {
            source.request_stop();
            return false;
        }));
    });
    all.finish();
}

// Holds: condition_variable_any: It may be destroyed as soon as all that waited have been notified.
TEST_P(condition_variable_any_test, is_destroyed_by_the_notified_at_once) {
    struct shared {
        quern::mutex m;
        quern::condition_variable_any changed;
        bool ready = false;
    };
    const int rounds = k_sanitized ? 2'000 : 20'000;
    for (int i = 0; i < rounds; ++i) {
        auto* s = new shared;
        all.task([s] {
            {
                std::unique_lock lock(s->m);
                s->changed.wait(lock, [s] { return s->ready; });
            }
            delete s;
        });
        const std::scoped_lock lock(s->m);
        s->ready = true;
        s->changed.notify_one();
    }
    all.finish();
}

/// A lock of the program's own, and one that cannot be locked again.
struct own_lock {
    explicit own_lock(quern::mutex& m) : held(&m) { lock(); }
    void lock() {
        held->lock();
        ++locked;
    }
    void unlock() {
        ++unlocked;
        held->unlock();
    }
    quern::mutex* held;
    int locked = 0;
    int unlocked = 0;
};
struct refuses_to_lock {
    void lock() { throw std::runtime_error("refused"); }
    void unlock() {}
};

// Holds: condition_variable_any: A lock of the program's own will do: lock() and unlock().
TEST_P(condition_variable_any_test, takes_a_lock_of_the_program_s_own) {
    quern::mutex m;
    quern::condition_variable_any changed;
    bool go = false;
    all.task([&] {
        own_lock lock(m);
        changed.wait(lock, [&] { return go; });
        EXPECT_EQ(lock.locked, 2);
        EXPECT_EQ(lock.unlocked, 1);
        lock.unlock();
    });
    all.settle();
    {
        const std::scoped_lock lock(m);
        go = true;
    }
    changed.notify_one();
    all.finish();
}

// Holds: condition_variable_any: When lock() throws, the program is terminated.
TEST(condition_variable_any_death_test, a_lock_that_throws_ends_the_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            quern::condition_variable_any changed;
            std::stop_source source;
            refuses_to_lock lock;
            changed.wait(lock, source.get_token(), [&source] {
                source.request_stop();  // so that the wait ends as soon as it has begun
                return false;
            });
        },
        "refused");
}

constinit quern::condition_variable_any k_static;

// Holds: condition_variable_any: It can be initialised statically, and neither copied nor moved.
TEST(condition_variable_any_test_of_types, can_be_initialised_statically_and_not_copied) {
    EXPECT_FALSE(std::is_copy_constructible_v<quern::condition_variable_any>);
    EXPECT_FALSE(std::is_move_constructible_v<quern::condition_variable_any>);
    EXPECT_FALSE(std::is_copy_assignable_v<quern::condition_variable_any>);
    k_static.notify_all();
}

}  // namespace
