// SPDX-License-Identifier: BSL-1.0
// co_lock of mutex and shared_mutex: exclusion, order, guards that are held across co_await and
// released elsewhere, the text of reports and aborts. The guarded data is plain ints, so that
// ThreadSanitizer detects races.
#include <quern/sync/event.hpp>
#include <quern/sync/mutex.hpp>
#include <quern/sync/shared_mutex.hpp>
#include <quern/sync/timed_mutex.hpp>
#include <quern/task/coroutine.hpp>
#include <quern/task/promise.hpp>

#include "coroutines.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using quern::event;
using quern::future;
using quern::mutex;
using quern::shared_mutex;
using quern::start;
using quern::task;
using quern_test::foreign;
using quern_test::scaled;

class co_lock_test : public quern_test::on_coroutines {};
QUERN_ON_ALL_POLICIES(co_lock_test);

// Holds: co_lock: co_await of co_lock() gives a guard when it owns the mutex; one owns it at a
//     time, coroutines, tasks and threads.
TEST_P(co_lock_test, excludes_coroutines_tasks_and_threads) {
    constexpr int k_each = scaled(300, 50);
    constexpr int k_of_a_kind = 10;
    mutex m;
    int count = 0;
    bool inside = false;
    const auto adds = [](mutex& lock, int& n, bool& in) -> task<> {
        for (int i = 0; i < k_each; ++i) {
            const auto held = co_await lock.co_lock();
            EXPECT_FALSE(in);
            in = true;
            if (i % 8 == 0) {
                co_await quern::async([] {});  // may resume on another worker
            }
            in = false;
            ++n;
        }
    };
    const auto add = [&] {
        for (int i = 0; i < k_each; ++i) {
            const std::scoped_lock lock(m);
            EXPECT_FALSE(inside);
            ++count;
        }
    };
    std::vector<future<void>> ended;
    std::vector<std::thread> threads;
    for (int i = 0; i < k_of_a_kind; ++i) {
        ended.push_back(start(rt, adds(m, count, inside)));
        ended.push_back(quern::async(rt, add));
    }
    threads.emplace_back(add);
    threads.emplace_back(add);
    for (auto& e : ended) {
        e.get();
    }
    for (std::thread& t : threads) {
        t.join();
    }
    EXPECT_EQ(count, (2 * k_of_a_kind + 2) * k_each);
}

// Holds: co_await on synchronisation: Coroutines, tasks and threads...
TEST_P(co_lock_test, goes_to_coroutines_tasks_and_threads_in_the_order_of_their_waiting) {
    constexpr int k_waiting = 18;
    mutex m;
    std::vector<int> order;
    const auto appends = [](mutex& lock, std::vector<int>& to, int me) -> task<> {
        const auto held = co_await lock.co_lock();
        to.push_back(me);
        co_await quern::async([] {});
    };
    m.lock();
    come_in_turns(
        k_waiting, [&](int i) { return appends(m, order, i); },
        [&](int i) {
            const std::scoped_lock lock(m);
            order.push_back(i);
        });
    m.unlock();
    let_all_end();
    ASSERT_EQ(order.size(), std::size_t{k_waiting});
    for (int i = 0; i < k_waiting; ++i) {
        EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
    }
}

// Holds: co_lock: The guard may be held across any co_await, and released on another worker.
TEST_P(co_lock_test, a_guard_is_held_across_co_await_and_released_on_another_worker) {
    mutex m;
    event go_on;
    std::atomic<int> before{-1};
    std::atomic<int> after{-1};
    const auto holds = [](mutex& lock, event& late, auto& from, auto& to) -> task<> {
        const auto held = co_await lock.co_lock();
        from = quern::current_worker_rank();
        co_await late.co_wait();
        to = quern::current_worker_rank();
    };
    for (int attempt = 0; attempt < 100; ++attempt) {
        go_on.reset();
        auto ended = start(rt, holds(m, go_on, before, after));
        settle();
        EXPECT_FALSE(m.try_lock());
        quern_test::spin_gate busy;
        auto keeps = start({.worker = before.load(), .pool = &rt.default_pool().get()},
                           [](quern_test::spin_gate& d, event& e) -> task<> {
                               e.set();
                               d.pass();  // another worker takes its ready tasks
                               co_return;
                           }(busy, go_on));
        if (has_thieves()) {
            ended.get();
            busy.open();
        } else {
            busy.open();
            ended.get();
        }
        keeps.get();
        EXPECT_TRUE(m.try_lock());
        m.unlock();
        if (before != after) {
            break;
        }
    }
    if (has_thieves()) {
        EXPECT_NE(before.load(), after.load());
    }
}

// Holds: co_lock: The guard can be...
// Holds: co_lock: unlock() of a guard lets go before its end, assignment lets go of what it held,
//     and so does an exception.
TEST_P(co_lock_test, a_guard_may_be_given_to_a_thread_or_task_that_unlocks) {
    mutex m;
    const auto takes = [](mutex& lock) -> task<mutex::co_guard> {
        co_return co_await lock.co_lock();
    };
    auto held = start(rt, takes(m)).get();
    EXPECT_TRUE(held.owns_lock());
    EXPECT_FALSE(m.try_lock());
    std::thread([&] { held.unlock(); }).join();
    EXPECT_FALSE(held);
    held.unlock();  // no effect
    EXPECT_TRUE(m.try_lock());
    m.unlock();

    held = start(rt, takes(m)).get();
    inside([mine = std::move(held)]() mutable { mutex::co_guard at_the_end(std::move(mine)); });
    EXPECT_TRUE(m.try_lock());
    m.unlock();
}

// Holds: co_lock: unlock() of a guard...
TEST_P(co_lock_test, assigning_to_a_guard_unlocks_what_it_held) {
    mutex a, b;
    const auto both = [](mutex& first, mutex& second) -> task<bool> {
        auto held = co_await first.co_lock();
        held = co_await second.co_lock();
        const bool first_is_free = first.try_lock();
        first.unlock();
        co_return first_is_free && !second.try_lock();
    };
    EXPECT_TRUE(start(rt, both(a, b)).get());
    EXPECT_TRUE(b.try_lock());
    b.unlock();
}

// Holds: co_lock: unlock() of a guard...
// Holds: co_lock: A timed_mutex has co_lock() too.
TEST_P(co_lock_test, an_exception_unlocks) {
    quern::timed_mutex m;  // also a mutex
    const auto throws = [](quern::timed_mutex& lock) -> task<> {
        const auto held = co_await lock.co_lock();
        co_await quern::async([] { throw std::runtime_error("late"); });
    };
    EXPECT_THROW(start(rt, throws(m)).get(), std::runtime_error);
    EXPECT_TRUE(m.try_lock());
    m.unlock();
}

// Holds: co_lock: A lock() waits for a guard, also where the coroutine had taken it on the same
//     stack; reports say that a coroutine holds the mutex, and which, if that coroutine waits.
TEST_P(co_lock_test, a_task_waits_for_a_coroutine_on_the_same_stack) {
    mutex m;
    event go_on;
    const auto holds = [](mutex& lock, event& late) -> task<> {
        const auto held = co_await lock.co_lock();
        co_await late.co_wait();
    };
    auto ended = start(rt, holds(m, go_on));
    settle();
    auto locks = quern::async(rt, [&m] { const std::scoped_lock lock(m); });  // no deadlock report
    settle();
    EXPECT_FALSE(locks.is_ready());
    const std::string report = quern::task_report();
    EXPECT_NE(report.find(", held by #"), std::string::npos) << report;
    EXPECT_NE(report.find("coroutine waits at most"), std::string::npos) << report;
    go_on.set();
    locks.get();
    ended.get();
}

// Holds: co_await on synchronisation: co_await does not suspend...
TEST_P(co_lock_test, threads_outside_run_through_when_it_is_free) {
    mutex m;
    shared_mutex s;
    bool done = false;
    const auto runs_through = [](mutex& a, shared_mutex& b, bool& to) -> foreign {
        { const auto held = co_await a.co_lock(); }
        { const auto writer = co_await b.co_lock(); }
        const auto reader = co_await b.co_lock_shared();
        to = quern::detail::current_context() == nullptr && a.try_lock();
        a.unlock();
    };
    runs_through(m, s, done);
    EXPECT_TRUE(done);
    EXPECT_TRUE(s.try_lock());
    s.unlock();
}

// Holds: co_await on synchronisation: The coroutine may destroy...
TEST_P(co_lock_test, the_last_one_destroys_the_mutex) {
    struct shared {
        mutex m;
        int users = 3;
    };
    const auto leaves = [](shared* s) -> task<> {
        auto held = co_await s->m.co_lock();
        const bool last = --s->users == 0;
        held.unlock();
        if (last) {
            delete s;
        }
    };
    std::vector<future<void>> ended;
    for (int i = 0; i < scaled(2'000, 200); ++i) {
        auto* s = new shared;
        for (int k = 0; k < 3; ++k) {
            ended.push_back(start(rt, leaves(s)));
        }
    }
    for (auto& e : ended) {
        e.get();
    }
}

// Holds: co_lock: Of a shared_mutex there is one writer or many readers; each waits for all earlier
//     waiters.
TEST_P(co_lock_test, a_shared_mutex_has_one_writer_or_many_readers) {
    constexpr int k_each = scaled(200, 40);
    shared_mutex m;
    int first = 0;
    int second = 0;
    std::atomic<int> torn{0};
    const auto writes = [](shared_mutex& lock, int& a, int& b) -> task<> {
        for (int i = 0; i < k_each; ++i) {
            const auto held = co_await lock.co_lock();
            ++a;
            co_await quern::async([] {});
            ++b;
        }
    };
    const auto reads = [](shared_mutex& lock, int& a, int& b, std::atomic<int>& bad) -> task<> {
        for (int i = 0; i < k_each; ++i) {
            const auto held = co_await lock.co_lock_shared();
            bad += a == b ? 0 : 1;
        }
    };
    const auto read = [&] {
        for (int i = 0; i < k_each; ++i) {
            const std::shared_lock lock(m);
            torn += first == second ? 0 : 1;
        }
    };
    std::vector<future<void>> ended;
    for (int i = 0; i < 4; ++i) {
        ended.push_back(start(rt, writes(m, first, second)));
        ended.push_back(start(rt, reads(m, first, second, torn)));
        ended.push_back(quern::async(rt, read));
    }
    std::thread outside(read);
    for (auto& e : ended) {
        e.get();
    }
    outside.join();
    EXPECT_EQ(torn.load(), 0);
    EXPECT_EQ(first, 4 * k_each);
}

// Holds: co_lock: Of a shared_mutex there...
TEST_P(co_lock_test, readers_hold_a_shared_mutex_together_and_a_writer_waits_for_all) {
    shared_mutex m;
    event go_on;
    const auto reads = [](shared_mutex& lock, event& late) -> task<> {
        const auto held = co_await lock.co_lock_shared();
        co_await late.co_wait();
    };
    const auto writes = [](shared_mutex& lock) -> task<> { co_await lock.co_lock(); };
    auto a = start(rt, reads(m, go_on));
    auto b = start(rt, reads(m, go_on));
    settle();
    auto writer = start(rt, writes(m));
    settle();
    EXPECT_FALSE(writer.is_ready());
    EXPECT_FALSE(m.try_lock_shared()) << "behind the writer";
    go_on.set();
    a.get();
    b.get();
    writer.get();
    EXPECT_TRUE(m.try_lock());
    m.unlock();
}

// Holds: co_lock: The guard can be moved and not copied, and be given to a task or thread that
//     unlocks.
TEST(co_lock_test_of_types, guards_can_be_moved_and_not_copied) {
    EXPECT_FALSE(std::is_copy_constructible_v<mutex::co_guard>);
    EXPECT_TRUE(std::is_nothrow_move_constructible_v<mutex::co_guard>);
    EXPECT_TRUE(std::is_nothrow_move_assignable_v<shared_mutex::co_guard>);
    EXPECT_FALSE((std::is_same_v<shared_mutex::co_guard, shared_mutex::co_shared_guard>));
    EXPECT_FALSE(mutex::co_guard().owns_lock());
}

/// The mistake that the message of the abort names.
template <class Lock>
task<> locks_across_co_await(Lock& m, event& late) {
    m.lock();
    co_await late.co_wait();
    m.unlock();
}

template <class Lock>
void make_the_mistake() {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    Lock m;
    event late;
    auto ended = start(rt, locks_across_co_await(m, late));
    while (!rt.default_pool().get().quiet()) {  // until it waits
        std::this_thread::yield();
    }
    late.set();
    ended.get();
}

// Holds: co_lock: A plain unlock() after a co_await that has suspended the coroutine aborts, and
//     the message names co_lock.
TEST(co_lock_death_test, a_plain_lock_across_co_await_aborts_and_says_what_to_use) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(make_the_mistake<mutex>(), "does not hold it .*co_lock");
    EXPECT_DEATH(make_the_mistake<shared_mutex>(), "not its writer .*co_lock");
}

// Holds: co_lock: A plain unlock() of what a guard holds aborts.
TEST(co_lock_death_test, unlocking_what_a_coroutine_holds_aborts) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            mutex m;
            auto held = start([](mutex& lock) -> task<mutex::co_guard> {
                            co_return co_await lock.co_lock();
                        }(m))
                            .get();
            m.unlock();
        },
        "does not hold it");
}

}  // namespace
