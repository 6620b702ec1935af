// SPDX-License-Identifier: BSL-1.0
// When pollers are asked: not while nothing is outstanding; by the clock while something is, by one
// worker at a time, also when all were asleep or one is busy.
#include <quern/scheduler/pollers.hpp>
#include <quern/task/promise.hpp>

#include "polled_runtime.hpp"

#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using quern::poll_result;
using quern::poller;
using quern_test::eventually;
using clock = std::chrono::steady_clock;

/// Whether other programs keep the processor when this thread yields: then idle workers sleep
/// instead, and ask by the clock (yield_budget.hpp).
bool yields_take_long() {
    for (int i = 0; i < 20; ++i) {
        const auto begin = clock::now();
        std::this_thread::yield();
        if (clock::now() - begin > 200us) {
            return true;
        }
    }
    return false;
}

class pollers_test : public quern_test::on_polled_runtime {};
QUERN_ON_1_2_8_WORKERS(pollers_test);

// Holds: poller: While nothing is outstanding its function is not called, and workers sleep without
//     waking up.
TEST_P(pollers_test, are_not_asked_while_nothing_is_outstanding) {
    std::atomic<int> calls{0};
    poller idle(pool(), {.name = "idle", .ask = [&] {
                             calls.fetch_add(1);
                             return poll_result::idle;
                         }});
    inside([&] {
        for (int i = 0; i < 200; ++i) {
            quern::async(rt, [] {}).get();
        }
    });
    wait_until_all_sleep();
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(calls.load(), 0);

    idle.expect(2);
    EXPECT_TRUE(eventually([&] { return calls.load() >= 3; }));
    idle.settle();
    EXPECT_EQ(idle.outstanding(), 1U);
    idle.settle();
    EXPECT_EQ(idle.outstanding(), 0U);
    std::this_thread::sleep_for(5ms);  // for a call that had begun
    const int before = calls.load();
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(calls.load(), before);
}

// Holds: poller: Nor is it called for what is outstanding at another one.
TEST_P(pollers_test, are_not_asked_for_the_operations_of_others) {
    std::atomic<int> calls{0}, others{0};
    poller idle(pool(), {.name = "idle", .ask = [&] {
                             calls.fetch_add(1);
                             return poll_result::idle;
                         }});
    poller busy(pool(), {.name = "busy", .ask = [&] {
                             others.fetch_add(1);
                             return poll_result::idle;
                         }});
    busy.expect();
    EXPECT_TRUE(eventually([&] { return others.load() >= 3; }));
    busy.settle();
    EXPECT_EQ(calls.load(), 0);
}

// Holds: poller: While nothing is outstanding...
TEST_P(pollers_test, let_sleeping_workers_sleep_while_nothing_is_outstanding) {
    poller idle(pool(), {.name = "idle", .ask = [] { return poll_result::idle; }});
    inside([] {});
    wait_until_all_sleep();
    const auto parks = pool().totals().parks;
    const auto looks = pool().totals().looks;
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(pool().totals().parks, parks);
    EXPECT_EQ(pool().totals().looks, looks);
}

// Holds: poller: Otherwise it is called by the clock, ever less often up to each millisecond while
//     there is no progress.
TEST_P(pollers_test, are_asked_ever_less_often_without_progress) {
    std::atomic<int> calls{0};
    poller idle(pool(), {.name = "idle", .ask = [&] {
                             calls.fetch_add(1);
                             return poll_result::idle;
                         }});
    const auto begin = clock::now();
    idle.expect();
    std::this_thread::sleep_for(100ms);
    EXPECT_TRUE(eventually([&] { return calls.load() >= 5; }));
    idle.settle();
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - begin);
    EXPECT_LE(calls.load(), ms.count() + 100);  // some 80 up to 16 ms, then each ms
}

// Holds: poller: Where it returns `soon`, it is called after the shortest interval, however long
//     there has been no progress.
TEST_P(pollers_test, are_asked_soon_again_if_they_ask_for_it) {
    std::atomic<int> asked_soon{0};
    const auto begin = clock::now();
    clock::time_point previous;
    poller one(pool(), {.name = "serves others", .ask = [&] {
                            const auto now = clock::now();
                            // By now a call that returns `idle` is followed by a pause of 1 ms.
                            asked_soon += now - begin > 50ms && now - previous < 500us ? 1 : 0;
                            previous = now;
                            return poll_result::soon;
                        }});
    one.expect();
    EXPECT_TRUE(eventually([&] { return asked_soon.load() >= 20; }));
    one.settle();
}

/// By the clock alone at least 20 us would pass between two calls.
TEST_P(pollers_test, are_asked_without_pause_by_idle_workers_if_eager) {
    std::atomic<int> asked{0}, asked_at_once{0};
    clock::time_point previous;
    poller one(pool(), {.name = "eager",
                        .ask =
                            [&] {
                                ++asked;
                                asked_at_once += clock::now() - previous < 15us ? 1 : 0;
                                previous = clock::now();
                                return poll_result::idle;
                            },
                        .eager = 30min});
    one.expect();
    const bool is_eager = eventually([&] { return asked_at_once.load() >= 50; });
    EXPECT_TRUE(is_eager || yields_take_long()) << asked_at_once.load();
    one.settle();
    const int last = asked.load();
    EXPECT_TRUE(eventually([&] { return pool().get().gate().load().sleeping == workers(); }));
    EXPECT_LE(asked.load(), last + 1);
}

/// Where yields take long no worker searches although pollers are eager.
TEST_P(pollers_test, eager_ones_are_left_alone_only_if_a_worker_searches) {
    poller one(pool(), {.name = "eager", .ask = [] { return poll_result::soon; }, .eager = 30min});
    one.expect();
    EXPECT_TRUE(pool().get().time().pollers().is_eager(quern::detail::ticks()));
    EXPECT_EQ(pool().get().time().pollers().until_due(true), 200us);
    EXPECT_LT(pool().get().time().pollers().until_due(false), 200us);
    one.settle();
}

/// Two tasks that a searching worker resumes at once, after earlier ones have withdrawn the request
/// of those that sleep. Each keeps its thread until the other one runs.
TEST_P(pollers_test, what_an_eager_one_resumes_is_found_by_workers_that_sleep) {
    if (workers() == 1) {
        GTEST_SKIP() << "its worker is the only one";
    }
    constexpr int k_first = 3;
    std::atomic<int> next{1}, begun{0}, ended{0};
    const auto let_others_sleep = [&] {
        EXPECT_TRUE(
            eventually([&] { return pool().get().gate().load().sleeping + 1 == workers(); }));
        ++next;
    };
    const auto meet = [&](int all) {
        ++begun;
        EXPECT_TRUE(eventually([&] { return begun.load() >= all; }));
        ++ended;
    };
    int round = 0;
    poller mail(pool(), {.name = "mail",
                         .ask =
                             [&] {
                                 if (next % 2 != 0) {
                                     return poll_result::idle;
                                 }
                                 if (++next < 2 * k_first) {
                                     quern::post(let_others_sleep);
                                     return poll_result::progress;
                                 }
                                 quern::post(meet, 2 * round);
                                 quern::post(meet, 2 * round);
                                 mail.settle();
                                 return poll_result::progress;
                             },
                         .eager = 10ms});
    for (round = 1; round <= 50 && !HasFailure(); ++round) {
        wait_until_all_sleep();
        mail.expect();
        next = 0;
        ASSERT_TRUE(eventually([&] { return ended.load() == 2 * round; }, 30s));
    }
}

/// The last operation ends while a task runs whose search has withdrawn the request of those that
/// sleep. What the task resumes afterwards is found, though it keeps its thread.
TEST_P(pollers_test, leave_no_worker_asleep_beside_a_task_when_nothing_is_outstanding) {
    if (workers() == 1) {
        GTEST_SKIP() << "its worker is the only one";
    }
    constexpr int k_tasks = 4;
    std::atomic<int> begun{0}, ended{0};
    std::atomic<bool> has_run{false};
    poller mail(pool(), {.name = "mail", .ask = [] { return poll_result::idle; }, .eager = 10ms});
    const auto run_beside_sleepers = [&](int number) {
        EXPECT_TRUE(
            eventually([&] { return pool().get().gate().load().sleeping + 1 == workers(); }));
        if (number == k_tasks) {
            mail.settle(mail.outstanding());
            std::this_thread::sleep_for(10ms);  // several looks of the watch
            has_run = false;
            quern::post([&] { has_run = true; });
            EXPECT_TRUE(eventually([&] { return has_run.load(); }));
        } else {
            mail.expect();  // this worker will search longer than the others have
        }
        ++ended;
    };
    int asked = 0;  // so often that its worker searches
    poller tasks(pool(), {.name = "tasks", .ask = [&] {
                              if (begun == k_tasks || begun != ended || ++asked % 10 != 0) {
                                  return poll_result::idle;
                              }
                              quern::post(run_beside_sleepers, ++begun);
                              if (begun == k_tasks) {
                                  tasks.settle();
                              }
                              return poll_result::progress;
                          }});
    for (int round = 0; round < 20 && !HasFailure(); ++round) {
        wait_until_all_sleep();
        begun = 0;
        ended = 0;
        mail.expect();
        tasks.expect();
        ASSERT_TRUE(eventually([&] { return ended.load() == k_tasks; }, 30s));
    }
}

TEST_P(pollers_test, are_asked_by_the_clock_when_eagerness_is_over) {
    std::atomic<int> asked{0};
    poller one(pool(), {.name = "eager for a moment",
                        .ask =
                            [&] {
                                ++asked;
                                return poll_result::idle;
                            },
                        .eager = 1us});
    one.expect();
    EXPECT_TRUE(eventually([&] { return pool().get().gate().load().sleeping == workers(); }));
    const int before = asked.load();
    EXPECT_TRUE(eventually([&] { return asked.load() > before + 3; }));
    one.settle();
}

// Holds: poller: By one worker at a time.
TEST_P(pollers_test, are_asked_by_one_worker_at_a_time) {
    long calls = 0;  // plain: two callers at once would be a race
    std::atomic<bool> enough{false};
    poller busy(pool(), {.name = "busy", .ask = [&] {
                             enough.store(++calls >= 100);
                             return poll_result::progress;
                         }});
    busy.expect();
    EXPECT_TRUE(eventually([&] {
        inside([] {});
        return enough.load();
    }));
    busy.settle();
}

// Holds: poller: Also when an operation begins while all workers sleep, or one of them until a
//     timer far away.
TEST_P(pollers_test, are_asked_when_an_operation_begins_while_all_workers_sleep) {
    std::atomic<int> calls{0};
    poller p(pool(), {.name = "p", .ask = [&] {
                          calls.fetch_add(1);
                          return poll_result::idle;
                      }});
    for (int i = 0; i < 20; ++i) {
        wait_until_all_sleep();
        const int before = calls.load();
        p.expect();
        EXPECT_TRUE(eventually([&] { return calls.load() > before; }, 2s));
        p.settle();
    }
}

// Holds: poller: Also when an operation...
TEST_P(pollers_test, are_asked_while_the_only_other_worker_sleeps_until_a_timer) {
    auto sleeper = quern::async(rt, [] { quern::this_task::sleep_for(300ms); });
    wait_until_all_sleep();
    std::atomic<int> calls{0};
    poller p(pool(), {.name = "p", .ask = [&] {
                          calls.fetch_add(1);
                          return poll_result::idle;
                      }});
    p.expect();
    EXPECT_TRUE(eventually([&] { return calls.load() >= 3; }, 200ms));
    p.settle();
    sleeper.get();
}

// Holds: poller: Also while the task that began it computes, if another worker is free, and between
//     tasks while all are busy.
TEST_P(pollers_test, are_asked_while_the_task_that_began_the_operation_computes) {
    if (workers() == 1) {
        GTEST_SKIP() << "its worker is the only one";
    }
    std::atomic<int> calls{0};
    poller p(pool(), {.name = "p", .ask = [&] {
                          calls.fetch_add(1);
                          return poll_result::idle;
                      }});
    inside([&] {
        p.expect();
        EXPECT_TRUE(eventually([&] { return calls.load() >= 3; }));
        p.settle();
    });
}

// Holds: poller: Also while the task...
TEST_P(pollers_test, are_asked_between_tasks_while_all_workers_are_busy) {
    std::atomic<bool> has_been_asked{false};
    poller p(pool(), {.name = "p", .ask = [&] {
                          has_been_asked.store(true);
                          return poll_result::idle;
                      }});
    p.expect();
    inside([&] {
        std::vector<quern::future<void>> all;
        for (unsigned i = 0; i < workers(); ++i) {
            all.push_back(quern::async(rt, [&] {  // suspended and resumed repeatedly
                const auto deadline = clock::now() + 10s;
                while (!has_been_asked.load() && clock::now() < deadline) {
                    quern_test::let_others_run();
                }
            }));
        }
        for (auto& each : all) {
            each.get();
        }
    });
    EXPECT_TRUE(has_been_asked.load());
    p.settle();
}

// Holds: poller: A task that suspends switches directly to a ready one, unless the function is due.
TEST_P(pollers_test, leave_a_direct_switch_direct_unless_they_are_due) {
    // Two tasks that yield to each other need no loop in between: each finds the other's context.
    const auto contexts_for_a_thousand_yields = [&] {
        return inside([&] {
            const auto before = pool().totals();
            auto other = quern::async(rt, [] {
                for (int i = 0; i < 1'000; ++i) {
                    quern_test::let_others_run();
                }
            });
            for (int i = 0; i < 1'000; ++i) {
                quern_test::let_others_run();
            }
            other.get();
            const auto after = pool().totals();
            return after.contexts_recycled + after.contexts_made - before.contexts_recycled -
                   before.contexts_made;
        });
    };
    if (workers() != 1) {
        GTEST_SKIP() << "tasks on several workers do not alternate";
    }
    std::uint64_t calls = 0;  // by the only worker
    poller p(pool(), {.name = "p", .ask = [&calls] {
                          ++calls;
                          return poll_result::idle;
                      }});
    EXPECT_LT(contexts_for_a_thousand_yields(), 100U) << "nothing outstanding";
    p.expect();
    std::this_thread::sleep_for(5ms);  // by now it is due at intervals of 50 us
    const std::uint64_t contexts = contexts_for_a_thousand_yields();
    EXPECT_LT(contexts, 100U + inside([&] { return calls; })) << "one operation outstanding";
    p.settle();
}

}  // namespace
