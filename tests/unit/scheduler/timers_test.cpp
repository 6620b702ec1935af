// SPDX-License-Identifier: BSL-1.0
// The queue of timers against a sorted container, and timers of a pool: they fire in order, never
// early, also when all workers sleep or all are busy; cancelled ones never fire; a runtime waits
// for its timers.
#include <quern/scheduler/detail/timers.hpp>

#include "on_runtime.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace {

using quern::detail::timer;
using quern::detail::timer_queue;
using namespace std::chrono_literals;

std::vector<int> fired;  // NOLINT: by one thread at a time

struct numbered final : timer {
    explicit numbered(int n)
        : timer([](timer& self) noexcept { fired.push_back(static_cast<numbered&>(self).number); }),
          number(n) {}
    int number;
};

TEST(timer_queue_test, begins_empty) {
    timer_queue queue;
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.earliest(), timer::clock::time_point::max());
    EXPECT_FALSE(queue.may_be_due(quern::detail::ticks()));
    fired.clear();
    queue.fire_due();
    EXPECT_TRUE(fired.empty());
}

TEST(timer_queue_test, fires_in_the_order_of_times_and_not_the_others) {
    timer_queue queue;
    const auto now = timer::clock::now();
    numbered a(1), b(2), c(3), later(4);
    EXPECT_TRUE(queue.set(b, now - 2ms));
    EXPECT_TRUE(queue.set(a, now - 3ms));
    EXPECT_FALSE(queue.set(c, now - 1ms));
    EXPECT_FALSE(queue.set(later, now + 1h));
    EXPECT_TRUE(queue.may_be_due(quern::detail::ticks()));
    fired.clear();
    queue.fire_due();
    EXPECT_EQ(fired, (std::vector{1, 2, 3}));
    EXPECT_EQ(queue.earliest(), now + 1h);
    EXPECT_TRUE(queue.cancel(later));
    EXPECT_FALSE(queue.cancel(later));
    EXPECT_FALSE(queue.cancel(a));
    EXPECT_TRUE(queue.empty());
}

TEST(timer_queue_test, agrees_with_a_sorted_set) {
    constexpr int k_timers = 2'000;
    std::mt19937 random(20'161'121);
    timer_queue queue;
    std::vector<numbered> all;
    for (int i = 0; i < k_timers; ++i) {
        all.emplace_back(i);
    }
    std::set<std::pair<timer::clock::time_point, int>> expected;
    // A clock that begins with the machine has no earlier times.
    const auto start = std::max(timer::clock::now() - 1h, timer::clock::time_point{});
    std::vector<bool> is_set(k_timers, false);
    for (int step = 0; step < 10 * k_timers; ++step) {
        const auto i = random() % k_timers;
        numbered& t = all[i];
        if (is_set[i]) {
            ASSERT_TRUE(queue.cancel(t));
            expected.erase({t.due, t.number});
        } else {
            const auto due = start + std::chrono::nanoseconds(random());
            const bool earliest = expected.empty() || due < expected.begin()->first;
            ASSERT_EQ(queue.set(t, due), earliest);
            expected.insert({due, t.number});
        }
        is_set[i] = !is_set[i];
        ASSERT_EQ(queue.earliest(),
                  expected.empty() ? timer::clock::time_point::max() : expected.begin()->first);
    }
    fired.clear();
    queue.fire_due();
    std::vector<int> order;
    for (const auto& [due, number] : expected) {
        order.push_back(number);
    }
    EXPECT_EQ(fired, order);
}

TEST(timer_queue_test, fires_those_of_the_past_in_order_between_other_steps) {
    constexpr int k_timers = 500;
    std::mt19937 random(19'780'401);
    timer_queue queue;
    std::vector<numbered> all;
    for (int i = 0; i < k_timers; ++i) {
        all.emplace_back(i);
    }
    using entry = std::pair<timer::clock::time_point, int>;
    std::set<entry> past, later;
    const auto now = timer::clock::now();
    const auto start = std::max(now - 1h, timer::clock::time_point{});
    const auto span = static_cast<unsigned long>((now - start).count());
    for (int step = 0; step < 100 * k_timers; ++step) {
        numbered& t = all[random() % k_timers];
        const entry mine{t.due, t.number};
        if (past.erase(mine) + later.erase(mine) != 0) {
            ASSERT_TRUE(queue.cancel(t));
        } else if (random() % 2 == 0) {
            const auto due = start + std::chrono::nanoseconds(random() % span);
            queue.set(t, due);
            past.insert({due, t.number});
        } else {
            const auto due = now + 1h + std::chrono::nanoseconds(random());
            queue.set(t, due);
            later.insert({due, t.number});
        }
        if (random() % 100 == 0) {
            std::vector<int> order;
            for (const auto& [due, number] : past) {
                order.push_back(number);
            }
            past.clear();
            fired.clear();
            queue.fire_due();
            ASSERT_EQ(fired, order) << "step " << step;
            ASSERT_EQ(queue.earliest(),
                      later.empty() ? timer::clock::time_point::max() : later.begin()->first);
        }
    }
    for (numbered& each : all) {
        queue.cancel(each);
    }
    EXPECT_TRUE(queue.empty());
}

TEST(timer_queue_test, fires_all_of_one_time) {
    timer_queue queue;
    std::vector<numbered> all;
    for (int i = 0; i < 100; ++i) {
        all.emplace_back(i);
    }
    const auto due = timer::clock::now() - 1ms;
    for (numbered& each : all) {
        queue.set(each, due);
    }
    EXPECT_TRUE(queue.cancel(all[37]));
    fired.clear();
    queue.fire_due();
    std::sort(fired.begin(), fired.end());
    ASSERT_EQ(fired.size(), 99U);
    EXPECT_EQ(std::adjacent_find(fired.begin(), fired.end()), fired.end());
    EXPECT_EQ(std::count(fired.begin(), fired.end(), 37), 0);
    EXPECT_TRUE(queue.empty());
}

TEST(due_after_test, does_not_overflow) {
    EXPECT_EQ(quern::detail::due_after(std::chrono::hours::max()), timer::clock::time_point::max());
    EXPECT_EQ(quern::detail::due_after(std::chrono::duration<double>(1e30)),
              timer::clock::time_point::max());
    const auto past = quern::detail::due_after(-1h);
    EXPECT_LE(past, timer::clock::now());
}

struct counted final : timer {
    explicit counted(std::atomic<int>& c)
        : timer([](timer& self) noexcept {
              auto& me = static_cast<counted&>(self);
              me.at = clock::now();
              me.count.fetch_add(1);
          }),
          count(c) {}
    clock::time_point at;
    std::atomic<int>& count;
};

class pool_timers_test : public quern_test::on_runtime {
protected:
    quern::detail::pool& pool() { return rt.default_pool().get(); }
    std::atomic<int> count{0};
};
QUERN_ON_1_2_8_WORKERS(pool_timers_test);

TEST_P(pool_timers_test, fire_when_all_workers_sleep) {
    pool().wait_until_quiet();
    for (int i = 0; i < 10; ++i) {
        counted t(count);
        const auto due = timer::clock::now() + 1ms;
        pool().set_timer(t, due);
        const bool in_time = quern_test::eventually([&] { return count.load() == i + 1; });
        if (!in_time) {
            pool().time().timers().cancel(t);
            FAIL() << "round " << i;
        }
        EXPECT_GE(t.at, due);
    }
}

TEST_P(pool_timers_test, fire_earlier_than_one_that_is_being_slept_for) {
    counted late(count), early(count);
    pool().set_timer(late, timer::clock::now() + 1h);
    std::this_thread::sleep_for(5ms);  // a task sleeps until then
    pool().set_timer(early, timer::clock::now() + 1ms);
    EXPECT_TRUE(quern_test::eventually([&] { return count.load() == 1; }));
    EXPECT_TRUE(pool().time().timers().cancel(late));
}

TEST_P(pool_timers_test, fire_between_the_tasks_of_busy_workers) {
    counted t(count);
    std::atomic<bool> enough{false};
    pool().set_timer(t, timer::clock::now() + 2ms);
    std::vector<quern::future<void>> all;
    for (unsigned w = 0; w < workers(); ++w) {
        all.push_back(quern::async(rt, [&] {
            while (!enough.load()) {
                quern_test::let_others_run();
            }
        }));
    }
    EXPECT_TRUE(quern_test::eventually([&] { return count.load() == 1; }));
    enough.store(true);
    for (auto& f : all) {
        f.get();
    }
}

TEST_P(pool_timers_test, fire_when_the_worker_that_set_them_is_throttled) {
    pool().wait_until_quiet();
    counted t(count);
    quern::async({.worker = static_cast<int>(workers()) - 1, .pool = &pool()}, [&] {
        pool().set_active_workers(1);
        std::this_thread::sleep_for(5ms);  // the other workers have found nothing and sleep
        pool().set_timer(t, timer::clock::now() + 1ms);
    }).get();
    EXPECT_TRUE(quern_test::eventually([&] { return count.load() == 1; }));
    pool().set_active_workers(workers());
}

TEST_P(pool_timers_test, that_are_never_due_cost_nothing) {
    counted never(count);
    pool().set_timer(never, timer::clock::time_point::max());
    EXPECT_TRUE(pool().time().timers().empty());
    EXPECT_FALSE(pool().time().timers().any());
    EXPECT_TRUE(pool().time().timers().cancel(never));
}

// Holds: runtime: A timer that is set keeps it from ending, so a task that sleeps is not abandoned.
TEST_P(pool_timers_test, keep_a_runtime_from_ending) {
    std::atomic<int> rung{0};
    counted t(rung);
    {
        quern::runtime other(quern::runtime_options::with_workers(workers()));
        other.default_pool().get().set_timer(t, timer::clock::now() + 30ms);
    }
    EXPECT_EQ(rung.load(), 1);
}

TEST_P(pool_timers_test, may_be_set_and_cancelled_by_many_threads) {
    const int each = quern_test::scaled(2'000, 200);
    std::atomic<int> cancelled{0};
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k) {
        threads.emplace_back([&, k] {
            std::mt19937 random(static_cast<unsigned>(k));
            for (int i = 0; i < each; ++i) {
                std::atomic<int> mine{0};
                counted t(mine);
                pool().set_timer(t,
                                 timer::clock::now() + std::chrono::microseconds(random() % 200));
                if (pool().time().timers().cancel(t)) {
                    cancelled.fetch_add(1);
                } else {
                    while (mine.load() == 0) {
                        std::this_thread::yield();
                    }
                    count.fetch_add(1);
                }
            }
        });
    }
    for (std::thread& t : threads) {
        t.join();
    }
    EXPECT_EQ(count.load() + cancelled.load(), 4 * each);
}

}  // namespace
