// SPDX-License-Identifier: BSL-1.0
// Pollers: not asked while nothing is outstanding; asked by the clock while something is, by one
// worker at a time, also when all were asleep or one is busy; the items that they make ready run;
// they keep a pool from being quiet, and can be removed.
#include <quern/scheduler/pollers.hpp>
#include <quern/task/promise.hpp>

#include "on_runtime.hpp"

#include <optional>
#include <stdexcept>
#include <string>
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
    constexpr int k_enough = 20;
    int long_ones = 0;
    for (int i = 0; i < k_enough; ++i) {
        const auto begin = clock::now();
        std::this_thread::yield();
        long_ones += clock::now() - begin > 200us ? 1 : 0;
    }
    return long_ones > 0;
}

class pollers_test : public quern_test::on_runtime {
protected:
    quern::pool_ref pool() { return rt.default_pool(); }

    void wait_until_all_sleep() {
        // A worker counts as asleep a little before it has counted that it parks.
        const auto is_at_rest = [&](unsigned rank) {
            const auto& parker = pool().get().at(rank).parker;
            return parker.word.load() == std::decay_t<decltype(parker)>::k_at_rest;
        };
        for (unsigned rank = 0; rank < workers(); ++rank) {
            ASSERT_TRUE(eventually([&] { return is_at_rest(rank); }));
        }
    }

    /// Suspends the calling task `times` times; `waiting` is for the poller that resumes it.
    static void wait_repeatedly(poller& asked, std::atomic<quern::detail::context*>& waiting,
                                int times) {
        for (int i = 0; i < times; ++i) {
            asked.expect();
            auto publish = [&](quern::detail::context& self) {
                waiting.store(&self);
                return true;
            };
            quern::detail::suspend(publish);
        }
    }

    static quern::poller_options resumes(std::atomic<quern::detail::context*>& waiting,
                                         poller*& itself) {
        return {.name = "resumes", .ask = [&waiting, &itself] {
                    quern::detail::context* const c = waiting.exchange(nullptr);
                    if (c == nullptr) {
                        return poll_result::idle;
                    }
                    quern::detail::resume(*c);
                    itself->settle();
                    return poll_result::progress;
                }};
    }
};
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

// Holds: poller: By one worker at a time.
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
    EXPECT_TRUE(eventually([&] { return pool().get().gate.load().sleeping == workers(); }));
    EXPECT_LE(asked.load(), last + 1);
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
    EXPECT_TRUE(eventually([&] { return pool().get().gate.load().sleeping == workers(); }));
    const int before = asked.load();
    EXPECT_TRUE(eventually([&] { return asked.load() > before + 3; }));
    one.settle();
}

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

// Holds: poller: When it has been destroyed its function is not called any more, and what was
//     outstanding is given up.
TEST_P(pollers_test, are_not_called_after_they_were_destroyed) {
    for (int i = 0; i < 50; ++i) {
        auto alive = std::make_unique<int>(0);  // destroyed with the poller
        {
            poller p(pool(), {.name = "p", .ask = [&alive] {
                                  ++*alive;
                                  return poll_result::idle;
                              }});
            p.expect();
            inside([] {});
        }
        alive.reset();
    }
    EXPECT_TRUE(eventually([&] { return pool().get().quiet(); })) << "what is left is given up";
}

// Holds: poller: It may resume tasks, make tasks, and set results for which tasks and threads wait.
TEST_P(pollers_test, may_resume_tasks) {
    std::atomic<quern::detail::context*> waiting{nullptr};
    poller* itself = nullptr;
    poller p(pool(), resumes(waiting, itself));
    itself = &p;
    inside([&] { wait_repeatedly(p, waiting, 100); });
    EXPECT_TRUE(eventually([&] { return p.outstanding() == 0; }));
}

// Holds: poller: It may resume tasks...
TEST_P(pollers_test, may_make_tasks) {
    std::atomic<int> left{20};
    std::atomic<int> ran{0};
    poller* itself = nullptr;
    poller p(pool(), {.name = "p", .ask = [&] {
                          if (left.fetch_sub(1) <= 0) {
                              return poll_result::idle;
                          }
                          quern::post({.pool = &rt.default_pool().get()},
                                      [&ran] { ran.fetch_add(1); });
                          itself->settle();
                          return poll_result::progress;
                      }});
    itself = &p;
    p.expect(20);
    EXPECT_TRUE(eventually([&] { return ran.load() == 20; }));
}

// Holds: poller: Outstanding operations keep their runtime alive.
TEST_P(pollers_test, keep_a_runtime_alive_while_something_is_outstanding) {
    std::optional<poller> p;
    std::atomic<int> calls{0};
    std::atomic<bool> has_gone_on{false};
    std::atomic<quern::detail::context*> waiting{nullptr};
    {
        quern::runtime other(quern::runtime_options::with_workers(workers()));
        p.emplace(other.default_pool(),
                  quern::poller_options{.name = "late", .ask = [&] {
                                            if (calls.fetch_add(1) < 20 || !waiting.load()) {
                                                return poll_result::idle;
                                            }
                                            quern::detail::resume(*waiting.exchange(nullptr));
                                            p->settle();
                                            return poll_result::progress;
                                        }});
        quern::post({.pool = &other.default_pool().get()}, [&] {
            wait_repeatedly(*p, waiting, 1);
            has_gone_on.store(true);
        });
    }
    EXPECT_TRUE(has_gone_on.load());
    EXPECT_GT(calls.load(), 20);
    EXPECT_EQ(p->outstanding(), 0U);
}

// Holds: poller: A poller without any does not, and may outlive it.
TEST_P(pollers_test, do_not_keep_a_runtime_from_ending) {
    std::optional<poller> p;
    const auto begin = clock::now();
    {
        quern::runtime other(quern::runtime_options::with_workers(workers()));
        p.emplace(other.default_pool(),
                  quern::poller_options{.name = "idle", .ask = [] { return poll_result::idle; }});
        quern::async(other, [] {}).get();
    }
    EXPECT_LT(clock::now() - begin, 2s);
    p.reset();  // after the pool
}

// Holds: poller: expect() and settle() may be called by any thread.
TEST_P(pollers_test, let_the_runtime_end_when_a_thread_outside_settles) {
    std::optional<poller> p;
    std::thread outside;
    const auto begin = clock::now();
    {
        quern::runtime other(quern::runtime_options::with_workers(workers()));
        p.emplace(other.default_pool(),
                  quern::poller_options{.name = "thread", .ask = [] { return poll_result::idle; }});
        p->expect(3);
        outside = std::thread([&] {
            std::this_thread::sleep_for(30ms);
            p->settle(3);
        });
    }
    EXPECT_GE(clock::now() - begin, 30ms);
    outside.join();
}

/// Suspends in the poller that it is called by, as a function that MPI calls may, at the call of
/// that number, until it is woken.
class suspends_once {
public:
    suspends_once(quern::pool_ref where, int at)
        : m_at(at), m_poller(where, {.name = "suspends", .ask = [this] { return ask(); }}) {
        m_poller.expect();
    }
    bool is_asleep() const { return m_asleep.load() != nullptr; }
    bool has_ended() const { return m_has_ended.load(); }
    void wake() { quern::detail::resume(*m_asleep.exchange(nullptr)); }

private:
    poll_result ask() {
        if (++m_calls != m_at) {
            return poll_result::idle;
        }
        quern::detail::context& here = *quern::detail::current_context();
        here.root().pin = &here.host();
        auto publish = [this](quern::detail::context& self) {
            m_asleep.store(&self);
            return true;
        };
        quern::detail::suspend(publish);
        here.root().pin = nullptr;
        m_has_ended.store(true);
        m_poller.settle();
        return poll_result::progress;
    }

    const int m_at;
    int m_calls = 0;
    std::atomic<quern::detail::context*> m_asleep{nullptr};
    std::atomic<bool> m_has_ended{false};
    poller m_poller;
};

// The worker whose loop is suspended searches, sleeps or keeps the watch in another context: it is
// woken for a task from outside, and for the end of the wait.
TEST_P(pollers_test, may_suspend_where_they_are_pinned) {
    for (int at = 1; at <= 40; ++at) {
        suspends_once one(pool(), at);
        ASSERT_TRUE(eventually([&] { return one.is_asleep(); })) << at;
        for (int i = 0; i < 3; ++i) {
            std::this_thread::sleep_for(i * 500us);
            const auto ran = quern::async(rt, [] {});
            ASSERT_TRUE(eventually([&] { return ran.is_ready(); })) << at;
        }
        one.wake();
        ASSERT_TRUE(eventually([&] { return one.has_ended(); })) << at;
        const auto counts = pool().get().gate.load();
        EXPECT_LE(counts.searching + counts.sleeping, workers()) << at;
    }
    wait_until_all_sleep();
    const auto counts = pool().get().gate.load();
    EXPECT_EQ(counts.searching, 0U);
    EXPECT_EQ(counts.sleeping, workers());
}

// Holds: poller: std::invalid_argument without a name or a function.
TEST(poller_test, says_what_it_needs) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    const auto error_of = [&](quern::poller_options how) -> std::string {
        try {
            const poller p(rt.default_pool(), std::move(how));
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(error_of({.name = "", .ask = [] { return poll_result::idle; }}),
              "quern: a poller needs a name, which reports show");
    EXPECT_EQ(error_of({.name = "mail", .ask = {}}), "quern: poller 'mail' has no function to ask");
}

TEST(poller_list_test, tells_what_is_outstanding) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    poller idle(rt.default_pool(), {.name = "idle", .ask = [] { return poll_result::idle; }});
    poller busy(rt.default_pool(), {.name = "busy",
                                    .ask = [] { return poll_result::idle; },
                                    .tell = [] { return std::string("ring of 2"); }});
    auto& list = rt.default_pool().get().pollers;
    EXPECT_TRUE(list.outstanding().empty());
    busy.expect(3);
    std::this_thread::sleep_for(5ms);
    const auto seen = list.outstanding();
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].name, "busy");
    EXPECT_EQ(seen[0].outstanding, 3U);
    EXPECT_EQ(seen[0].words, "ring of 2");
    EXPECT_GE(seen[0].seconds, 0.004);
    busy.settle(3);
}

}  // namespace
