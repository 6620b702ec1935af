// SPDX-License-Identifier: BSL-1.0
// What the functions of pollers may do, and how pollers and their runtimes end.
#include <quern/scheduler/pollers.hpp>
#include <quern/task/promise.hpp>

#include "polled_runtime.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using quern::poll_result;
using quern::poller;
using quern_test::eventually;
using clock = std::chrono::steady_clock;

class pollers_life_test : public quern_test::on_polled_runtime {
protected:
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
QUERN_ON_1_2_8_WORKERS(pollers_life_test);

// Holds: poller: When it has been destroyed its function is not called any more, and what was
//     outstanding is given up.
TEST_P(pollers_life_test, are_not_called_after_they_were_destroyed) {
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
TEST_P(pollers_life_test, may_resume_tasks) {
    std::atomic<quern::detail::context*> waiting{nullptr};
    poller* itself = nullptr;
    poller p(pool(), resumes(waiting, itself));
    itself = &p;
    inside([&] { wait_repeatedly(p, waiting, 100); });
    EXPECT_TRUE(eventually([&] { return p.outstanding() == 0; }));
}

// Holds: poller: It may resume tasks...
TEST_P(pollers_life_test, may_make_tasks) {
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
TEST_P(pollers_life_test, keep_a_runtime_alive_while_something_is_outstanding) {
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
TEST_P(pollers_life_test, do_not_keep_a_runtime_from_ending) {
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
TEST_P(pollers_life_test, let_the_runtime_end_when_a_thread_outside_settles) {
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
TEST_P(pollers_life_test, may_suspend_where_they_are_pinned) {
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
        const auto counts = pool().get().gate().load();
        EXPECT_LE(counts.searching + counts.sleeping, workers()) << at;
    }
    wait_until_all_sleep();
    const auto counts = pool().get().gate().load();
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
    auto& list = rt.default_pool().get().time().pollers();
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
