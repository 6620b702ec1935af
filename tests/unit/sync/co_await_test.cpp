// SPDX-License-Identifier: BSL-1.0
// co_await on events, latches, barriers and semaphores: with and without a need to wait, from
// workers and from other threads, in coroutines of this library and of others; attributes kept
// across the wait, the order of resumption, and destruction of the object afterwards. Channels and
// cells: co_values_test.cpp; mutexes: co_lock_test.cpp.
#include <quern/sync/barrier.hpp>
#include <quern/sync/event.hpp>
#include <quern/sync/latch.hpp>
#include <quern/sync/semaphore.hpp>
#include <quern/sync/sliding_semaphore.hpp>
#include <quern/task/coroutine.hpp>
#include <quern/task/promise.hpp>

#include "coroutines.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace {

using quern::event;
using quern::future;
using quern::latch;
using quern::promise;
using quern::start;
using quern::task;
using quern_test::foreign;
using quern_test::scaled;

/// One object of each type, and a coroutine that waits for them one after the other.
struct things {
    event set_later;
    latch counted{1};
    latch met{2};
    quern::barrier<> meeting{2};
    quern::counting_semaphore<> permits{0};
    quern::sliding_semaphore window{0};
    std::atomic<int> passed{0};

    task<int> wait_for_each() {
        co_await set_later.co_wait();
        ++passed;
        co_await counted.co_wait();
        ++passed;
        co_await met.co_arrive_and_wait();
        ++passed;
        co_await meeting.co_arrive_and_wait();
        ++passed;
        co_await permits.co_acquire();
        ++passed;
        co_await window.co_wait(1);
        co_return ++passed;
    }

    void let_go_on(int which) {
        switch (which) {
            case 0:
                return set_later.set();
            case 1:
                return counted.count_down();
            case 2:
                return met.count_down();
            case 3:
                return static_cast<void>(meeting.arrive());
            case 4:
                return permits.release();
            default:
                return window.signal(1);
        }
    }
    static constexpr int k_waits = 6;
};

class co_await_test : public quern_test::on_coroutines {};
QUERN_ON_ALL_POLICIES(co_await_test);

// Holds: co_await on synchronisation: wait(), acquire(), arrive_and_wait() and their like have a
//     form for coroutines, which waits as long.
TEST_P(co_await_test, waits_for_each_until_it_has_come) {
    things all;
    auto ended = start(rt, all.wait_for_each());
    for (int i = 0; i < things::k_waits; ++i) {
        settle();
        EXPECT_EQ(all.passed.load(), i);
        EXPECT_FALSE(ended.is_ready());
        all.let_go_on(i);
    }
    EXPECT_EQ(ended.get(), things::k_waits);
}

// Holds: co_await on synchronisation: co_await does not suspend when there is nothing to wait for.
TEST_P(co_await_test, does_not_suspend_when_there_is_nothing_to_wait_for) {
    things all;
    for (int i = 0; i < things::k_waits; ++i) {
        all.let_go_on(i);
    }
    int here = 0;
    const auto runs_through = [](things& t, int& passed) -> foreign {
        co_await t.set_later.co_wait();
        co_await t.counted.co_wait();
        co_await t.met.co_arrive_and_wait();
        co_await t.meeting.co_arrive_and_wait();
        co_await t.permits.co_acquire();
        co_await t.window.co_wait(1);
        passed = quern::detail::current_context() == nullptr ? 1 : -1;
    };
    runs_through(all, here);  // of a thread outside, which never left it
    EXPECT_EQ(here, 1);
}

// Holds: co_await on synchronisation: A thread outside continues itself only when there is nothing
//     to wait for; else the coroutine resumes in the default runtime, and the thread returns.
TEST_P(co_await_test, a_thread_outside_leaves_the_coroutine_to_the_default_pool) {
    event e;
    promise<quern::detail::pool*> where;
    const auto waits = [](event& late, promise<quern::detail::pool*>& to) -> foreign {
        co_await late.co_wait();
        to.set_value(&quern::current_pool().get());
    };
    auto resumed = where.get_future();
    waits(e, where);
    EXPECT_FALSE(resumed.is_ready());
    e.set();
    EXPECT_EQ(resumed.get(), &quern::runtime::default_instance().default_pool().get());
}

// Holds: co_await on synchronisation: The coroutine resumes in the pool whose worker awaited.
TEST_P(co_await_test, goes_on_in_the_pool_of_whoever_awaited) {
    event e;
    const auto asks = [](event& late) -> task<bool> {
        const auto* before = &quern::current_pool().get();
        co_await late.co_wait();
        co_return before == &quern::current_pool().get();
    };
    auto f = start(rt, asks(e));
    settle();
    quern::runtime other(quern::runtime_options::with_workers(1));
    quern::async(other, [&e] { e.set(); }).get();
    EXPECT_TRUE(f.get());
}

// Holds: co_await on synchronisation: May be used in coroutines of other libraries.
TEST_P(co_await_test, coroutines_of_others_wait_on_workers) {
    latch counted(1);
    promise<int> result;
    const auto waits = [](latch& l, promise<int>& to) -> foreign {
        co_await l.co_wait();
        to.set_value(1);
    };
    inside([&] { waits(counted, result); });
    inside([&] { counted.count_down(); });
    EXPECT_EQ(result.get_future().get(), 1);
}

// Holds: co_await on synchronisation: What is returned can be moved before it is awaited.
TEST_P(co_await_test, what_is_to_be_awaited_can_be_moved_before) {
    event e;
    const auto waits = [](event& late) -> task<int> {
        auto first = late.co_wait();
        auto second = std::move(first);
        co_await std::move(second);
        co_return 1;
    };
    auto f = start(rt, waits(e));
    settle();
    e.set();
    EXPECT_EQ(f.get(), 1);
}

// Holds: co_await on synchronisation: The worker runs other work meanwhile.
TEST_P(co_await_test, leaves_the_worker_to_others) {
    quern::counting_semaphore<> permits(0);
    std::vector<future<int>> waiting;
    const auto waits = [](quern::counting_semaphore<>& s) -> task<int> {
        co_await s.co_acquire();
        co_return 1;
    };
    for (unsigned i = 0; i < 4 * workers(); ++i) {
        waiting.push_back(start(rt, waits(permits)));
    }
    inside([&] { permits.release(4 * workers()); });
    for (auto& each : waiting) {
        EXPECT_EQ(each.get(), 1);
    }
}

// Holds: co_await on synchronisation: Coroutines, tasks and threads wait in one queue, and resume
//     in its order.
TEST_P(co_await_test, stands_in_one_queue_with_tasks_and_threads) {
    constexpr int k_waiting = 24;
    quern::counting_semaphore<> permits(0);
    std::atomic<int> last{-1};
    const auto waits = [](quern::counting_semaphore<>& s, std::atomic<int>& who, int me) -> task<> {
        co_await s.co_acquire();
        who = me;
    };
    come_in_turns(
        k_waiting, [&](int i) { return waits(permits, last, i); },
        [&](int i) {
            permits.acquire();
            last = i;
        });
    for (int i = 0; i < k_waiting; ++i) {
        permits.release();
        EXPECT_TRUE(quern_test::eventually([&] { return last.load() == i; })) << i;
    }
    let_all_end();
}

// Holds: co_await on synchronisation: Name, priority and stop token hold after every wait.
TEST_P(co_await_test, name_priority_and_stop_token_hold_after_every_wait) {
    things all;
    std::stop_source source;
    const auto asks = [](things& t) -> task<bool> {
        const auto as_started = [] {
            return std::string(quern::this_task::name()) == "asker" &&
                   quern::this_task::get_priority() == quern::priority::high &&
                   !quern::this_task::stop_requested();
        };
        bool all_hold = as_started();
        co_await t.set_later.co_wait();
        all_hold = all_hold && as_started();
        co_await t.permits.co_acquire();
        all_hold = all_hold && as_started();
        co_await t.window.co_wait(1);
        co_return all_hold&& quern::this_task::name() != nullptr;
    };
    auto f = start({.name = "asker",
                    .urgency = quern::priority::high,
                    .pool = &rt.default_pool().get(),
                    .stop = source.get_token()},
                   asks(all));
    for (const int which : {0, 4, 5}) {
        settle();
        all.let_go_on(which);
    }
    EXPECT_TRUE(f.get());
}

// Holds: co_await on synchronisation: A stop request does not end the wait.
TEST_P(co_await_test, a_stop_request_reaches_it_and_does_not_end_the_wait) {
    event e;
    std::stop_source source;
    const auto asks = [](event& late) -> task<bool> {
        co_await late.co_wait();
        co_return quern::this_task::stop_requested();
    };
    auto f = start({.pool = &rt.default_pool().get(), .stop = source.get_token()}, asks(e));
    settle();
    source.request_stop();
    settle();
    EXPECT_FALSE(f.is_ready());
    e.set();
    EXPECT_TRUE(f.get());
}

// Holds: co_await on synchronisation: What the coroutine throws afterwards travels as ever.
TEST_P(co_await_test, exceptions_travel_through_coroutines_that_have_waited) {
    event e;
    const auto inner = [](event& late) -> task<> {
        co_await late.co_wait();
        throw std::runtime_error("late");
    };
    const auto outer = [&inner](event& late) -> task<> { co_await inner(late); };
    auto f = start(rt, outer(e));
    settle();
    e.set();
    EXPECT_THROW(f.get(), std::runtime_error);
}

// Holds: co_await on synchronisation: What precedes a signal...
TEST_P(co_await_test, a_barrier_takes_coroutines_tasks_and_threads_from_phase_to_phase) {
    constexpr int k_each = 4;
    constexpr int k_phases = scaled(200, 50);
    int phases = 0;
    std::vector<int> at(3 * k_each, 0);  // plain: ordered only by the barrier
    std::atomic<int> faults{0};
    quern::barrier meeting(3 * k_each, [&]() noexcept {
        ++phases;
        for (const int step : at) {
            faults += step == phases ? 0 : 1;
        }
    });
    const auto steps = [](auto& all, int& mine) -> task<> {
        for (int i = 0; i < k_phases; ++i) {
            ++mine;
            co_await all.co_arrive_and_wait();
        }
    };
    std::vector<future<void>> ended;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < k_each; ++i) {
        const auto blocks = [&meeting](int& mine) {
            for (int k = 0; k < k_phases; ++k) {
                ++mine;
                meeting.arrive_and_wait();
            }
        };
        ended.push_back(start(rt, steps(meeting, at[3 * i])));
        ended.push_back(quern::async(rt, blocks, std::ref(at[3 * i + 1])));
        threads.emplace_back(blocks, std::ref(at[3 * i + 2]));
    }
    for (auto& e : ended) {
        e.get();
    }
    for (std::thread& t : threads) {
        t.join();
    }
    EXPECT_EQ(phases, k_phases);
    EXPECT_EQ(faults.load(), 0);
}

// Holds: co_await on synchronisation: The last one to arrive at a barrier calls the completion
//     function, which may suspend.
TEST_P(co_await_test, the_last_to_arrive_may_suspend_in_the_completion_function) {
    quern::barrier meeting(2, []() noexcept { quern_test::let_others_run(); });
    const auto meets = [](auto& all) -> task<int> {
        for (int i = 0; i < 100; ++i) {
            co_await all.co_arrive_and_wait();
        }
        co_return 1;
    };
    auto a = start(rt, meets(meeting));
    auto b = start(rt, meets(meeting));
    EXPECT_EQ(a.get() + b.get(), 2);
}

// Holds: co_await on synchronisation: The coroutine may destroy what it waited for as soon as it
//     resumes.
TEST_P(co_await_test, may_destroy_what_it_waited_for_as_soon_as_it_goes_on) {
    const int rounds = scaled(3'000, 300);
    const auto destroys_event = [](std::unique_ptr<event> e) -> task<> { co_await e->co_wait(); };
    const auto destroys_latch = [](std::unique_ptr<latch> l) -> task<> {
        co_await l->co_arrive_and_wait();
    };
    std::vector<future<void>> ended;
    for (int i = 0; i < rounds; ++i) {
        auto e = std::make_unique<event>();
        auto l = std::make_unique<latch>(2);
        event& set_it = *e;
        latch& count_it = *l;
        ended.push_back(start(rt, destroys_event(std::move(e))));
        ended.push_back(start(rt, destroys_latch(std::move(l))));
        quern::post({.pool = &rt.default_pool().get()}, [&set_it] { set_it.set(); });
        count_it.count_down();
    }
    for (auto& e : ended) {
        e.get();
    }
}

// Holds: co_await on synchronisation: What precedes a signal happens before the coroutine resumes.
TEST_P(co_await_test, none_is_lost_that_comes_meanwhile) {
    constexpr int k_rounds = scaled(5'000, 500);
    quern::counting_semaphore<> there(0);
    quern::counting_semaphore<> back(0);
    int count = 0;  // plain: ordered only by the semaphores
    const auto plays = [](auto& from, auto& to, int& n) -> task<> {
        for (int i = 0; i < k_rounds; ++i) {
            co_await from.co_acquire();
            ++n;
            to.release();
        }
    };
    auto a = start(rt, plays(there, back, count));
    auto b = start(rt, plays(back, there, count));
    there.release();
    a.get();
    b.get();
    EXPECT_EQ(count, 2 * k_rounds);
}

}  // namespace
