// SPDX-License-Identifier: BSL-1.0
// The shared mutex: exclusion, sharing, the order of readers and writers, destruction by the last
// holder.
#include <quern/sync/shared_mutex.hpp>

#include <quern/sync/event.hpp>
#include <quern/sync/latch.hpp>

#include "crew.hpp"

#include <mutex>
#include <shared_mutex>
#include <string>
#include <system_error>
#include <type_traits>

namespace {

using quern_test::crew;
using quern_test::k_sanitized;
using quern_test::let_others_run;

class shared_mutex_test : public quern_test::on_workers {};
QUERN_ON_1_2_8_WORKERS(shared_mutex_test);

// Holds: shared_mutex: A writer holds it alone, tasks and threads.
// Holds: shared_mutex: What a writer did happens before the next one, reader or writer, resumes;
//     what readers did, before the next writer.
TEST_P(shared_mutex_test, excludes_writers_from_one_another_and_from_readers) {
    constexpr int k_tasks = 60;
    constexpr int k_threads = 3;
    const int each = k_sanitized ? 100 : 500;
    quern::shared_mutex m;
    int a = 0;
    int b = 0;
    std::atomic<int> torn{0};
    const auto work = [&](int who) {
        for (int i = 0; i < each; ++i) {
            if ((who + i) % 3 == 0) {
                const std::unique_lock lock(m);
                ++a;
                ++b;
            } else {
                const std::shared_lock lock(m);
                torn += a == b ? 0 : 1;
            }
        }
    };
    for (int i = 0; i < k_tasks; ++i) {
        all.task([&, i] { work(i); });
    }
    for (int i = 0; i < k_threads; ++i) {
        all.thread([&, i] { work(i); });
    }
    all.finish();
    EXPECT_EQ(torn.load(), 0);
    EXPECT_EQ(a, b);
    EXPECT_GT(a, 0);
}

// Holds: shared_mutex: Any number of readers hold it together.
// Holds: shared_mutex: try_lock() takes it when there is neither holder nor waiter, always; else it
//     returns false, also to a holder.
TEST_P(shared_mutex_test, lets_readers_in_together) {
    constexpr int k_readers = 20;
    quern::shared_mutex m;
    quern::latch met(k_readers + 1);
    for (int i = 0; i < k_readers; ++i) {
        all.task([&] {
            const std::shared_lock lock(m);
            met.arrive_and_wait();  // all are inside
        });
    }
    {
        const std::shared_lock lock(m);
        met.arrive_and_wait();
        EXPECT_FALSE(m.try_lock());
    }
    all.finish();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
}

/// Readers (r) and writers (w) that come one after another while a writer holds the mutex, and the
/// groups in which they lock it.
// Holds: shared_mutex: An unlock hands it to the first in the queue; if that is a reader, also to
//     the readers directly behind it.
TEST_P(shared_mutex_test, admits_in_the_order_of_waiting_and_readers_that_stand_together_at_once) {
    const std::string line = "rrwwrrrwr";
    quern::shared_mutex m;
    std::mutex log_lock;
    std::string log;
    const auto note = [&](char c) {
        const std::scoped_lock lock(log_lock);
        log += c;
    };
    m.lock();
    for (const char kind : line) {
        all.task([&, kind] {
            if (kind == 'r') {
                const std::shared_lock lock(m);
                note('r');
            } else {
                const std::unique_lock lock(m);
                note('w');
            }
        });
        all.settle();
    }
    EXPECT_EQ(log, "");
    m.unlock();
    all.finish();
    EXPECT_EQ(log, line);
}

// Holds: shared_mutex: try_lock_shared() takes it when...
// Holds: shared_mutex: A newcomer behind waiters goes to the end of the queue, a reader too.
TEST_P(shared_mutex_test, lets_no_new_reader_pass_a_waiting_writer) {
    quern::shared_mutex m;
    std::atomic<bool> written{false};
    m.lock_shared();
    all.task([&] {
        const std::unique_lock lock(m);
        let_others_run();
        written = true;
    });
    all.settle();
    EXPECT_FALSE(m.try_lock_shared());
    all.task([&] {
        const std::shared_lock lock(m);
        EXPECT_TRUE(written.load());
    });
    all.settle();
    EXPECT_FALSE(written.load());
    m.unlock_shared();
    all.finish();
    EXPECT_TRUE(written.load());
}

// Holds: shared_mutex: Neither readers nor writers starve.
// Holds: shared_mutex: A task may suspend while it holds it, as reader or writer.
TEST_P(shared_mutex_test, starves_neither_a_writer_among_readers_nor_a_reader_among_writers) {
    quern::shared_mutex m;
    std::atomic<bool> stop{false};
    for (int i = 0; i < 4; ++i) {
        all.task([&, i] {
            while (!stop.load()) {
                if (i % 2 == 0) {
                    const std::shared_lock lock(m);
                    let_others_run();
                } else {
                    const std::unique_lock lock(m);
                    let_others_run();
                }
            }
        });
    }
    all.thread([&] {
        for (int i = 0; i < 50; ++i) {
            m.lock();
            m.unlock();
            m.lock_shared();
            m.unlock_shared();
        }
        stop = true;
    });
    all.finish();
}

// Holds: shared_mutex: lock() and lock_shared() by the writer throw
//     std::system_error(resource_deadlock_would_occur). **Differs**: undefined there.
// Holds: shared_mutex: try_lock() takes it when...
// Holds: shared_mutex: try_lock_shared() takes it when there is no writer and no waiter, always;
//     else it returns false.
TEST_P(shared_mutex_test, throws_when_its_writer_locks_again) {
    quern::shared_mutex m;
    const auto check = [&] {
        const std::unique_lock lock(m);
        EXPECT_THROW(m.lock(), std::system_error);
        EXPECT_THROW(m.lock_shared(), std::system_error);
        EXPECT_FALSE(m.try_lock());
        EXPECT_FALSE(m.try_lock_shared());
    };
    check();
    all.task(check);
    all.finish();
    EXPECT_TRUE(m.try_lock_shared());
    EXPECT_TRUE(m.try_lock_shared());
    m.unlock_shared();
    m.unlock_shared();
}

// Holds: shared_mutex: What a writer did...
TEST_P(shared_mutex_test, shows_a_writer_what_readers_have_done) {
    constexpr std::size_t k_readers = 8;
    quern::shared_mutex m;
    std::vector<int> seen(k_readers, 0);  // plain: each reader writes its own
    quern::latch inside(k_readers);
    for (std::size_t i = 0; i < k_readers; ++i) {
        all.task([&, i] {
            const std::shared_lock lock(m);
            inside.arrive_and_wait();
            seen[i] = 1;
        });
    }
    inside.wait();
    const std::unique_lock lock(m);  // after the last reader
    EXPECT_EQ(seen, std::vector<int>(k_readers, 1));
}

// Holds: shared_mutex: It may be destroyed as soon as it has neither holder nor waiter.
TEST_P(shared_mutex_test, is_destroyed_by_the_last_who_leaves) {
    struct shared {
        quern::shared_mutex m;
        std::atomic<int> users{4};
    };
    const auto leave = [](shared* s, bool reads) {
        bool last = false;
        if (reads) {
            const std::shared_lock lock(s->m);
        } else {
            const std::unique_lock lock(s->m);
        }
        {
            const std::unique_lock lock(s->m);
            last = --s->users == 0;
        }
        if (last) {
            delete s;
        }
    };
    const int rounds = k_sanitized ? 2'000 : 10'000;
    for (int i = 0; i < rounds; ++i) {
        auto* s = new shared;
        for (int t = 0; t < 3; ++t) {
            all.task([=] { leave(s, t != 0); });
        }
        leave(s, true);
    }
    all.finish();
}

constinit quern::shared_mutex k_static;

// Holds: shared_mutex: It can be initialised statically, and neither copied nor moved.
TEST(shared_mutex_test_of_types, can_be_initialised_statically_and_not_copied) {
    EXPECT_FALSE(std::is_copy_constructible_v<quern::shared_mutex>);
    EXPECT_FALSE(std::is_move_constructible_v<quern::shared_mutex>);
    EXPECT_FALSE(std::is_copy_assignable_v<quern::shared_mutex>);
    const std::scoped_lock lock(k_static);
}

// Holds: shared_mutex: unlock() by another one than the writer, and unlock_shared() without
//     readers, abort. **Differs**: undefined there.
TEST(shared_mutex_death_test, unlocking_what_one_does_not_hold_aborts) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(quern::shared_mutex().unlock(), "not its writer");
    EXPECT_DEATH(quern::shared_mutex().unlock_shared(), "it has none");
}

}  // namespace
