// SPDX-License-Identifier: BSL-1.0
// Unobserved exceptions reach the handler, once, with their origin; observed ones do not.
#include <quern/task/coroutine.hpp>
#include <quern/task/dataflow.hpp>
#include <quern/task/exceptions.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/scope.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/when.hpp>
#include <quern/task/when_each.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using quern::async;
using quern::exception_origin;
using quern_test::eventually;
using quern_test::spin_gate;

std::mutex g_mutex;
std::map<exception_origin, std::vector<std::string>> g_lost;

void note(std::exception_ptr error, exception_origin where) noexcept {
    std::string text;
    try {
        std::rethrow_exception(std::move(error));
    } catch (const std::exception& e) {
        text = e.what();
    }
    const std::scoped_lock lock(g_mutex);
    g_lost[where].push_back(std::move(text));
}

[[noreturn]] void fail(const char* text) { throw std::runtime_error(text); }

class lost_exceptions : public quern_test::on_runtime {
protected:
    lost_exceptions() {
        g_lost.clear();
        m_before = quern::set_exception_handler(note);
    }
    ~lost_exceptions() override { quern::set_exception_handler(m_before); }

    using texts = std::vector<std::string>;

    /// Expects exactly these texts at the handler; waits until it has got as many.
    static void expect(exception_origin where, const texts& wanted) {
        EXPECT_TRUE(eventually([&] {
            const std::scoped_lock lock(g_mutex);
            return g_lost[where].size() >= wanted.size();
        }));
        const std::scoped_lock lock(g_mutex);
        EXPECT_EQ(g_lost[where], wanted);
        g_lost.erase(where);
        EXPECT_TRUE(g_lost.empty());
    }
    static void expect_none() {
        const std::scoped_lock lock(g_mutex);
        EXPECT_TRUE(g_lost.empty());
    }

private:
    quern::exception_handler m_before = nullptr;
};
QUERN_ON_ALL_POLICIES(lost_exceptions);

// Holds: exception handler: What get(), wait() or co_await has thrown is observed, and does not
//     reach the handler.
TEST_P(lost_exceptions, do_not_include_those_that_get_throws) {
    inside([] {
        auto f = async([] { fail("task"); });
        EXPECT_THROW(f.get(), std::runtime_error);
        const auto shared = async([] { fail("task"); }).share();
        EXPECT_THROW(shared.get(), std::runtime_error);
        EXPECT_THROW(shared.get(), std::runtime_error);
        const auto copy = shared;  // an unobserved copy does not count
        auto awaited = quern::start([](quern::future<void> source) -> quern::task<> {
            co_await source;
        }(async([] { fail("task"); })));
        EXPECT_THROW(awaited.get(), std::runtime_error);
    });
    expect_none();
}

// Holds: exception handler: The exception of a future that is dropped reaches the handler.
TEST_P(lost_exceptions, of_a_dropped_future_are_those_of_its_task) {
    inside([] {
        auto before = async([] { fail("had ended"); });
        before.wait();
        EXPECT_TRUE(before.has_exception());  // no observation
    });
    expect(exception_origin::unobserved_future, {"had ended"});
    spin_gate leave;
    {
        auto dropped = async(rt, [&leave] {
            leave.pass();
            fail("ends later");
        });
    }
    leave.open();
    expect(exception_origin::unobserved_future, {"ends later"});
}

// Holds: exception handler: The exception of a shared future reaches the handler when the last
//     holder goes and none has got it.
TEST_P(lost_exceptions, of_a_shared_future_come_with_the_last_holder) {
    inside([] {
        auto shared = async([] { fail("shared"); }).share();
        auto copy = shared;
        shared.wait();
        shared = {};
        expect_none();
        copy = {};
    });
    expect(exception_origin::unobserved_future, {"shared"});
}

// Holds: exception handler: A broken promise does not reach the handler.
TEST_P(lost_exceptions, of_a_promise_do_not_include_the_broken_one) {
    { auto f = quern::promise<int>().get_future(); }
    { quern::promise<int> nobody_asked; }
    expect_none();
    quern::promise<int> p;
    { auto f = p.get_future(); }
    p.set_exception(std::make_exception_ptr(std::runtime_error("given")));
    p = {};
    expect(exception_origin::unobserved_future, {"given"});
}

// Holds: exception handler: A continuation or combinator that takes an exception over observes it.
TEST_P(lost_exceptions, do_not_include_those_that_a_continuation_passes_on) {
    inside([] {
        auto passed = async([] {
                          fail("task");
                      }).then([](auto f) {
                            f.get();
                        }).then(quern::launch::sync, [](auto f) { f.get(); });
        EXPECT_THROW(passed.get(), std::runtime_error);
        auto joined = quern::dataflow(quern::unwrapping([](int i) { return i; }),
                                      async([]() -> int { fail("task"); }));
        EXPECT_THROW(joined.get(), std::runtime_error);
        quern::future<int> inner = async([] { return async([]() -> int { fail("inner"); }); });
        EXPECT_THROW(inner.get(), std::runtime_error);
        auto all = quern::when_all(async([] { fail("task"); })).get();
        EXPECT_THROW(std::get<0>(all).get(), std::runtime_error);
    });
    expect_none();
}

// Holds: exception handler: A continuation that does not look at its input does not observe its
//     exception.
TEST_P(lost_exceptions, of_a_continuation_that_does_not_look_are_those_of_its_input) {
    inside([] {
        async([] { fail("input"); }).then([](auto) {}).get();
        expect(exception_origin::unobserved_future, {"input"});
        {
            auto all = quern::when_all(async([] { fail("one of all"); })).get();
        }
        expect(exception_origin::unobserved_future, {"one of all"});
        auto both =
            quern::dataflow(quern::unwrapping([](int, int) {}), async([]() -> int { fail("a"); }),
                            async([]() -> int { fail("b"); }));
        EXPECT_THROW(both.get(), std::runtime_error);
        const auto lost = [] {
            const std::scoped_lock lock(g_mutex);
            return g_lost[exception_origin::unobserved_future].size();
        };
        EXPECT_TRUE(eventually([&] { return lost() == 1; }));  // its worker may still hold it
        const std::scoped_lock lock(g_mutex);
        g_lost.clear();
    });
}

// Holds: exception handler: Exceptions of futures that when_each no longer visits reach the
//     handler.
TEST_P(lost_exceptions, of_when_each_are_those_of_futures_that_it_no_longer_visits) {
    inside([] {
        std::vector<quern::future<void>> futures;
        futures.push_back(async(quern::launch::sync, [] {}));
        futures.push_back(async(quern::launch::sync, [] { fail("not visited"); }));
        auto visits = quern::when_each([](auto) { fail("visitor"); }, std::move(futures));
        EXPECT_THROW(visits.get(), std::runtime_error);
    });
    expect(exception_origin::unobserved_future, {"not visited"});
}

// Holds: post: An exception that leaves it goes to the handler, and ends the program if there is
//     none.
// Holds: exception handler: What leaves a posted task reaches the handler, and does not end the
//     program then.
TEST_P(lost_exceptions, of_a_posted_task_do_not_end_the_program) {
    quern::post({.pool = &rt.default_pool().get()}, [] { fail("posted"); });
    expect(exception_origin::posted_task, {"posted"});
}

// Holds: exception handler: Later exceptions of a group, and those of tasks without a waiter, reach
//     the handler.
// Holds: task_group: The destructor throws no exception; one that no wait() has thrown goes to the
//     handler.
// Holds: task_group: Later exceptions go to the handler.
TEST_P(lost_exceptions, of_a_group_are_the_later_ones_and_what_nobody_waits_for) {
    inside([this] {
        quern::task_group group;
        spin_gate both;
        std::atomic<int> here{0};
        const auto body = [&] {
            if (here.fetch_add(1) == 1) {
                both.open();
            }
            both.pass();
            fail("member");
        };
        if (has_thieves()) {
            group.run(body);
            group.run(body);
            EXPECT_THROW(group.wait(), std::runtime_error);
            expect(exception_origin::later_exception, {"member"});
        }
        {
            quern::task_group dropped;
            dropped.run([] { fail("nobody waits"); });
        }
        expect(exception_origin::unobserved_group, {"nobody waits"});
    });
}

// Holds: exception handler: The later exception of a fork_join, and those of a scope after the
//     first, reach the handler.
TEST_P(lost_exceptions, of_fork_join_are_those_of_the_child_whose_sibling_has_thrown) {
    if (!has_thieves()) {
        GTEST_SKIP() << "needs a thief";
    }
    inside([] {
        spin_gate begun;
        const auto f = [&] {
            begun.open();
            fail("f");
        };
        const auto g = [&] {
            begun.pass();
            fail("g");
        };
        EXPECT_THROW(quern::fork_join(f, g), std::runtime_error);
    });
    expect(exception_origin::later_exception, {"f"});
}

// Holds: exception handler: The later exception of...
TEST_P(lost_exceptions, of_a_scope_are_those_after_the_first) {
    if (!has_thieves()) {
        GTEST_SKIP() << "needs a thief";
    }
    inside([] {
        spin_gate begun;
        const auto body = [&](quern::fork_scope& s) {
            s.spawn([&] {
                begun.open();
                fail("child");
            });
            begun.pass();
            fail("body");
        };
        EXPECT_THROW(quern::scope(body), std::runtime_error);
    });
    expect(exception_origin::later_exception, {"child"});
}

// Holds: exception handler: task_cancelled never reaches the handler.
TEST_P(lost_exceptions, do_not_include_cancellations) {
    std::stop_source source;
    source.request_stop();
    const quern::task_attributes how{.pool = &rt.default_pool().get(), .stop = source.get_token()};
    {
        auto dropped = async(how, [] {});
    }
    std::atomic<bool> ended{false};
    quern::post({.pool = how.pool}, [&] {
        struct at_end {
            std::atomic<bool>& flag;
            ~at_end() { flag = true; }
        } const end{ended};
        async(how, [] {}).get();
    });
    EXPECT_TRUE(eventually([&] { return ended.load(); }));
    inside([] {});
    expect_none();
}

// Holds: exception handler: set_exception_handler() returns the one before; the one that is set
//     then is called.
TEST_P(lost_exceptions, travel_to_the_handler_that_is_set_then) {
    inside([] {
        auto f = async(quern::launch::sync, [] { fail("old"); });
        EXPECT_EQ(quern::set_exception_handler(nullptr), &note);
        EXPECT_EQ(quern::get_exception_handler(), nullptr);
        f = {};  // ignored
        EXPECT_EQ(quern::set_exception_handler(note), nullptr);
        EXPECT_EQ(quern::get_exception_handler(), &note);
    });
    expect_none();
}

// Holds: exception handler: Without a handler an exception of a posted task ends the program.
TEST(posted_death_test, without_a_handler_ends_the_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            quern::runtime rt(quern::runtime_options::with_workers(1));
            quern::post({.pool = &rt.default_pool().get()}, [] { fail("of a posted task"); });
        },
        "of a posted task");
}

}  // namespace
