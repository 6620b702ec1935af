// SPDX-License-Identifier: BSL-1.0
// Tasks that pass messages: in a pool of their own, in the order of their creation, and again from
// the beginning. Here they pass none: what the layer mpi plans is planned by the test.
#include <quern/dependences/domain.hpp>
#include <quern/dependences/replay.hpp>
#include <quern/dependences/spawn.hpp>

#include <quern/dependences/detail/restart.hpp>
#include <quern/scheduler/detail/communication.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/task/async.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/task_hold.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using quern::detail::communication_plan;

communication_plan g_plan;

class communication_test : public testing::Test {
protected:
    communication_test() {
        quern::detail::plan_communication_by([](const quern::settings&) { return g_plan; });
    }
    ~communication_test() override { quern::detail::plan_communication_by(nullptr); }

    static quern::runtime_options planned(communication_plan plan, unsigned workers = 1) {
        g_plan = plan;
        return quern::runtime_options::with_workers(workers);
    }
};

constexpr communication_plan k_thread{.has_thread = true};
constexpr communication_plan k_ordered{.is_ordered = true};

/// No container: the view of one would be a span.
struct place {
    std::string pool;
};

std::string pool_here() { return std::string(quern::current_pool().name()); }

void wait_for(const std::atomic<bool>& flag) {
    while (!flag.load()) {
        std::this_thread::yield();
    }
}

// Holds: task_attributes: communication: without a plan such tasks are as all others.
TEST_F(communication_test, tasks_are_as_all_others_without_a_plan) {
    quern::runtime rt(planned({}));
    place where;
    quern::domain work(rt.default_pool());
    work.spawn({.communication = true}, quern::out(where), [](place& w) { w.pool = pool_here(); });
    work.taskwait();
    EXPECT_EQ(where.pool, "default");
    EXPECT_EQ(rt.pools().size(), 1U);
}

// Holds: task_attributes: communication: tasks of async, post and domains run in the pool
// "communication".
TEST_F(communication_test, tasks_run_in_their_pool) {
    quern::runtime rt(planned(k_thread));
    EXPECT_EQ(rt.pool("communication").workers(), 1U);
    quern::domain work(rt.default_pool());
    place at_first;
    place then;
    place at_last;
    work.spawn(quern::out(at_first), [](place& w) { w.pool = pool_here(); });
    work.spawn({.communication = true}, quern::in(at_first), quern::out(then),
               [](const place&, place& w) { w.pool = pool_here(); });
    work.spawn(quern::in(then), quern::out(at_last),
               [](const place&, place& w) { w.pool = pool_here(); });
    work.taskwait();
    EXPECT_EQ(at_first.pool + " " + then.pool + " " + at_last.pool,
              "default communication default");

    quern::detail::pool* const home = &rt.default_pool().get();
    EXPECT_EQ(quern::async({.pool = home, .communication = true}, pool_here).get(),
              "communication");
    quern::promise<std::string> posted;
    quern::post({.pool = home, .communication = true}, [&] { posted.set_value(pool_here()); });
    EXPECT_EQ(posted.get_future().get(), "communication");
    EXPECT_EQ(work.async({.communication = true}, quern::in(then),
                         [](const place&) { return pool_here(); })
                  .get(),
              "communication");
}

// Holds: task_attributes: communication: such tasks begin and end while all workers are busy.
TEST_F(communication_test, tasks_do_not_wait_for_workers) {
    quern::runtime rt(planned(k_thread));
    std::atomic<bool> has_passed{false};
    int message = 0;
    int next = 0;
    quern::domain work(rt.default_pool());
    work.spawn([&] { wait_for(has_passed); });  // the only worker
    work.spawn({.communication = true}, quern::out(message), [](int& m) { m = 1; });
    work.spawn({.communication = true}, quern::in(message), quern::out(next),
               [&](const int& m, int& n) {
                   n = m + 1;
                   has_passed = true;
               });
    work.taskwait();
    EXPECT_EQ(next, 2);
}

// Holds: task_attributes: communication: in the order in which they become ready; rank and urgency
// do not count.
TEST_F(communication_test, tasks_run_in_the_order_in_which_they_are_ready) {
    quern::runtime rt(planned(k_thread));
    std::atomic<bool> may_begin{false};
    std::vector<int> order;
    quern::domain work(rt.default_pool());
    work.spawn({.communication = true}, [&] { wait_for(may_begin); });
    constexpr quern::priority k_urgencies[] = {quern::priority::low, quern::priority::normal,
                                               quern::priority::high};
    for (int i = 0; i < 30; ++i) {
        work.spawn({.urgency = k_urgencies[i % 3],
                    .rank = static_cast<std::int16_t>(i % 7),
                    .worker = 5,
                    .communication = true},
                   [&order, i] { order.push_back(i); });
    }
    may_begin = true;
    work.taskwait();
    ASSERT_EQ(order.size(), 30U);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

// Holds: task_attributes: communication: exceptions travel as those of other tasks.
TEST_F(communication_test, exceptions_travel) {
    quern::runtime rt(planned(k_thread));
    quern::domain work(rt.default_pool());
    work.spawn({.communication = true}, [] { throw std::runtime_error("no message"); });
    EXPECT_THROW(work.taskwait(), std::runtime_error);
    auto failing = quern::async({.pool = &rt.default_pool().get(), .communication = true},
                                []() -> int { throw std::runtime_error("no message"); });
    EXPECT_THROW(failing.get(), std::runtime_error);
}

// Holds: task_attributes: communication: children of such a task run on the workers, unless they
// are such tasks themselves.
TEST_F(communication_test, children_run_on_workers) {
    quern::runtime rt(planned(k_thread));
    place child;
    place other;
    quern::domain work(rt.default_pool());
    work.spawn({.communication = true}, quern::out(child), quern::out(other), [&] {
        quern::spawn(quern::out(child), [](place& w) { w.pool = pool_here(); });
        quern::spawn({.communication = true}, quern::out(other),
                     [](place& w) { w.pool = pool_here(); });
        quern::taskwait();
        child.pool += " of " + pool_here();
    });
    work.taskwait();
    EXPECT_EQ(child.pool, "default of communication");
    EXPECT_EQ(other.pool, "communication");
}

// Holds: task_attributes: communication: replay: such tasks are replayed.
TEST_F(communication_test, tasks_are_replayed) {
    for (const communication_plan plan :
         {k_thread, k_ordered, communication_plan{.has_thread = true, .is_ordered = true}}) {
        quern::runtime rt(planned(plan, 2));
        int value = 0;
        std::vector<int> seen;
        quern::domain work(rt.default_pool());
        quern::replay(work, 20, [&](std::size_t) {
            work.spawn(quern::inout(value), [](int& v) { ++v; });
            work.spawn({.communication = true}, quern::in(value),
                       [&seen](const int& v) { seen.push_back(v); });
        });
        work.taskwait();
        ASSERT_EQ(seen.size(), 20U);
        EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
        EXPECT_EQ(seen.back(), 20);
    }
}

// Holds: replay: Whether a task passes messages is said by its own spawn(), not by that of an
//     earlier step.
TEST_F(communication_test, a_replayed_task_passes_messages_in_some_steps) {
    quern::runtime rt(planned(k_thread, 2));
    int value = 0;
    int right = 0;
    quern::domain work(rt.default_pool());
    constexpr int k_steps = 300;
    quern::replay(work, k_steps, [&](std::int64_t step) {
        const bool passes_messages = step % 3 == 0;
        const auto look = [&right, passes_messages](int&) {
            right += (pool_here() == "communication") == passes_messages ? 1 : 0;
        };
        if (step % 2 == 0) {
            work.spawn({.communication = passes_messages}, quern::inout(value), look);
        } else if (passes_messages) {
            work.spawn({.communication = true}, quern::inout(value), look);
        } else {
            work.spawn(quern::inout(value), look);
        }
    });
    EXPECT_EQ(right, k_steps);
}

// Holds: task_attributes: communication: in order: such tasks of a domain run one after the other
// as they were made, though their accesses do not conflict.
TEST_F(communication_test, tasks_follow_each_other_as_they_were_made) {
    for (const bool is_ordered : {true, false}) {
        quern::runtime rt(planned({.is_ordered = is_ordered}, 2));
        std::atomic<bool> may_end{false};
        std::atomic<bool> has_run{false};
        int slow = 0;
        quern::domain work(rt.default_pool());
        work.spawn(quern::out(slow), [&](int& s) {
            wait_for(may_end);
            s = 1;
        });
        bool was_in_order = false;
        std::atomic<int> first{0};
        work.spawn({.communication = true}, quern::in(slow), [&](const int& s) { first = s; });
        work.spawn({.communication = true}, [&] {
            was_in_order = first == 1;
            has_run = true;
        });
        if (!is_ordered) {
            wait_for(has_run);
        }
        may_end = true;
        work.taskwait();
        EXPECT_EQ(was_in_order, is_ordered);
    }
}

// Holds: task_attributes: communication: in order: the next one begins when the function has
// returned; what holds the task may end later.
TEST_F(communication_test, a_held_task_keeps_none_back) {
    quern::runtime rt(planned(k_ordered));
    quern::task_hold hold;
    quern::domain work(rt.default_pool());
    work.spawn({.communication = true}, [&] { hold = quern::this_task::hold(); });
    std::atomic<bool> has_run{false};
    work.spawn({.communication = true}, [&] { has_run = true; });
    wait_for(has_run);
    hold.drop();
    work.taskwait();
}

// Holds: task_attributes: communication: other tasks than those of async, post and domains refuse
// it, and tasks that are not queued.
TEST_F(communication_test, the_attribute_is_refused_elsewhere) {
    const auto message_of = [](auto f) -> std::string {
        try {
            f();
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "no exception";
    };
    EXPECT_EQ(
        message_of([] {
            quern::task_group group;
            group.run({.communication = true}, [] {});
        }),
        "quern: the attribute .communication = true is only for tasks of async, post and of a "
        "quern::domain");
    EXPECT_EQ(
        message_of([] {
            quern::async({.how = quern::launch::deferred, .communication = true}, [] {}).get();
        }),
        "quern: a task with .communication = true is queued: `how` must be launch::async");
    g_plan = k_thread;
    EXPECT_EQ(message_of([] {
                  quern::runtime_options own;
                  own.pools = {quern::pool_options{.name = "communication", .workers = 1}};
                  const quern::runtime rt(own);
              }),
              "quern: two pools are named 'communication'");
}

// -- beginning again ---------------------------------------------------------------------------

// Holds: domain: A task that restarts is called again from its beginning, with the same function.
TEST_F(communication_test, a_task_begins_again) {
    quern::runtime rt(planned({}, 2));
    quern::domain work(rt.default_pool());
    int result = 0;
    int after = 0;
    work.spawn({.urgency = quern::priority::high, .rank = 3}, quern::out(result),
               [attempts = 0](int& r) mutable {
                   if (++attempts < 5) {
                       quern::detail::restart_running_task();
                   }
                   r = attempts;
               });
    work.spawn(quern::in(result), quern::out(after), [](const int& r, int& a) { a = r; });
    auto value = work.async(quern::in(after), [attempts = 0](const int& a) mutable {
        if (++attempts < 3) {
            quern::detail::restart_running_task();
        }
        return 10 * a + attempts;
    });
    work.taskwait();
    EXPECT_EQ(after, 5);
    EXPECT_EQ(value.get(), 53);
}

// Holds: domain: A task that restarts is queued behind one ready task.
TEST_F(communication_test, one_ready_task_runs_before_the_next_attempt) {
    quern::runtime rt(planned({}));
    std::vector<char> order;
    quern::async(rt, [&order] {
        quern::domain work;
        bool is_ready = false;  // all are ready together
        work.spawn(quern::out(is_ready), [] {});
        work.spawn({.rank = 1}, quern::in(is_ready), [&order, attempts = 0](const bool&) mutable {
            order.push_back('a');
            if (++attempts < 4) {
                quern::detail::restart_running_task();
            }
        });
        for (int i = 0; i < 5; ++i) {
            work.spawn(quern::in(is_ready), [&order](const bool&) { order.push_back('b'); });
        }
        work.taskwait();
    }).get();
    EXPECT_EQ(std::string(order.begin(), order.end()),
              "abababab"
              "b");
}

// Holds: domain: A task that is dropped does not begin again.
TEST_F(communication_test, a_cancelled_task_does_not_begin_again) {
    quern::runtime rt(planned({}));
    quern::domain work(rt.default_pool());
    std::atomic<int> attempts{0};
    work.spawn([&] {
        if (++attempts == 3) {
            work.cancel();
        }
        quern::detail::restart_running_task();
    });
    EXPECT_THROW(work.taskwait(), quern::task_cancelled);
    EXPECT_EQ(attempts, 3);
}

// Holds: domain: Why a task cannot begin again.
TEST_F(communication_test, what_cannot_be_done_again_is_named) {
    quern::runtime rt(planned({}));
    const auto why = [] {
        const char* const reason = quern::detail::why_no_restart();
        return std::string(reason != nullptr ? reason : "");
    };
    EXPECT_NE(why().find("outside of a task of a quern::domain"), std::string::npos);
    EXPECT_NE(quern::async(rt, why).get().find("outside of a task"), std::string::npos);
    quern::domain work(rt.default_pool());
    std::string free;
    std::string with_child;
    std::string held;
    work.spawn([&] { free = why(); });
    work.spawn([&] {
        quern::spawn([] {});
        with_child = why();
    });
    work.spawn([&] {
        const quern::task_hold hold = quern::this_task::hold();
        held = why();
    });
    work.taskwait();
    EXPECT_EQ(free, "");
    EXPECT_NE(with_child.find("has spawned children"), std::string::npos);
    EXPECT_NE(held.find("is held"), std::string::npos);
}

}  // namespace
