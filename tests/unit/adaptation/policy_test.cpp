// SPDX-License-Identifier: BSL-1.0
// Policies: what triggers them, what they read, who may register them, and what is refused.
#include "unit/adaptation/on_workers.hpp"

#include <quern/adaptation/global_value.hpp>
#include <quern/counters/registry.hpp>
#include <quern/task/async.hpp>
#include <quern/task/this_task.hpp>
#include <quern/trace/recorder.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using quern::adaptation::every;
using quern::adaptation::on;
using quern::adaptation::policy_context;
using quern::adaptation::policy_event;
using quern::adaptation::policy_handle;
using quern::adaptation::policy_options;
using quern::trace::custom_event;
using quern::trace::event_kind;
using quern_test::decisions_of;
using quern_test::eventually;
using quern_test::k_patient;
using quern_test::message_of;

constexpr custom_event k_step("step");
constexpr custom_event k_other("other");

class policy_test : public quern_test::on_workers {};
QUERN_ON_WORKERS(policy_test);

// Holds: policy: A periodic one is called at intervals, without an event, on a thread that is no
// worker.
TEST_P(policy_test, is_called_at_intervals) {
    const quern::runtime rt(options());
    std::atomic<int> calls{0};
    std::atomic<int> wrong{0};
    const policy_handle kept = every(
        1ms, "counts",
        [&](policy_context& now) {
            calls += 1;
            wrong += now.event() != nullptr || now.value() != 0 ||
                     quern::current_worker_rank() != -1 || quern::this_task::id() != 0;
        },
        k_patient);
    EXPECT_TRUE(eventually([&] { return calls >= 5; }));
    EXPECT_EQ(wrong, 0);
    EXPECT_TRUE(kept.is_active());
}

// Holds: policy: Each event of its kinds gives one call, in order, also when they come faster than
// the calls.
// Holds: policy: A custom event triggers the policies for that event, not those for others.
TEST_P(policy_test, is_called_once_for_each_event) {
    const quern::runtime rt(options());
    std::vector<double> seen;
    std::atomic<int> calls{0};
    const policy_handle kept = on(
        k_step, "collects",
        [&](policy_context& now) {
            seen.push_back(now.value());
            EXPECT_EQ(now.event()->which, &k_step);
            EXPECT_EQ(now.event()->kind, event_kind::custom);
            calls += 1;
        },
        k_patient);
    for (int i = 0; i < 500; ++i) {
        k_other.fire(-1);
        k_step.fire(i);
    }
    ASSERT_TRUE(eventually([&] { return calls == 500; }));
    for (int i = 0; i < 500; ++i) {
        EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
    }
}

// Holds: policy: The event has the task's number, name and worker, and the time of the event.
TEST_P(policy_test, gets_the_fields_of_events_of_tasks) {
    quern::runtime rt(options());
    std::mutex lock;
    std::vector<policy_event> seen;
    const policy_handle kept = on(
        event_kind::task_stop | event_kind::sample | event_kind::mark, "fields",
        [&](policy_context& now) {
            const std::scoped_lock guard(lock);
            seen.push_back(*now.event());
        },
        k_patient);
    const auto before = quern::trace::event_clock_ns();
    quern::async({.name = "seen", .pool = &rt.default_pool().get()}, [] {}).get();
    quern::trace::sample("residual", 0.5);
    quern::trace::mark("solver", "has converged");
    const auto of = [&](event_kind kind, std::string_view name) {
        const std::scoped_lock guard(lock);
        for (const policy_event& each : seen) {
            if (each.kind == kind &&
                (name == each.text_view() || (each.name != nullptr && name == each.name))) {
                return each;
            }
        }
        return policy_event{};
    };
    ASSERT_TRUE(eventually([&] { return of(event_kind::mark, "solver").time_ns != 0; }));
    ASSERT_TRUE(eventually([&] { return of(event_kind::task_stop, "seen").task != 0; }));
    EXPECT_EQ(of(event_kind::sample, "residual").value, 0.5);
    const policy_event stop = of(event_kind::task_stop, "seen");
    EXPECT_LT(stop.worker, GetParam());
    EXPECT_GE(stop.time_ns, before);
    EXPECT_NE(stop.site, nullptr);
}

// Holds: policy: What it does itself does not trigger it.
TEST(policy_trigger_test, does_not_trigger_itself) {
    std::atomic<int> calls{0};
    const policy_handle kept = on(
        event_kind::mark, "echo",
        [&](policy_context&) {
            calls += 1;
            quern::trace::mark("echo", "again");
        },
        k_patient);
    quern::trace::mark("test", "once");
    EXPECT_TRUE(eventually([&] { return calls == 1; }));
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(calls, 1);
}

// Holds: policy: Events beyond its queue are dropped, counted by /adaptation/dropped-events, and
// logged once.
TEST(policy_trigger_test, counts_the_events_that_it_drops) {
    std::atomic<bool> may_leave{false};
    std::atomic<int> calls{0};
    const auto before = quern::adaptation::all_totals().dropped;
    policy_options how = k_patient;
    how.queue = 2;
    const policy_handle kept = on(
        k_step, "slow",
        [&](policy_context&) {
            calls += 1;
            while (!may_leave) {
                std::this_thread::sleep_for(1ms);
            }
        },
        how);
    k_step.fire();
    ASSERT_TRUE(eventually([&] { return calls == 1; }));  // and its queue is empty
    for (int i = 0; i < 7; ++i) {
        k_step.fire();
    }
    EXPECT_EQ(quern::adaptation::all_totals().dropped - before, 5U);
    may_leave = true;
    EXPECT_TRUE(eventually([&] { return decisions_of("slow").size() == 1; }));
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(quern::adaptation::text_of(decisions_of("slow").front()),
              "slow: dropped-events 0 -> 5: its queue of 2 events was full; later ones are counted "
              "by /adaptation/dropped-events");
}

// Holds: policy: A counter's value covers the time since the policy's previous call; in the first
// call that names it, the time since the runtime started.
TEST_P(policy_test, reads_counters_since_its_previous_call) {
    quern::runtime rt(options());
    const auto run_tasks = [&rt](int tasks) {
        for (int i = 0; i < tasks; ++i) {
            quern::async(rt, [] {}).get();
        }
        rt.default_pool().get().wait_until_quiet();
    };
    std::vector<double> seen;
    std::atomic<int> calls{0};
    run_tasks(10);
    const policy_handle kept = on(
        k_step, "reads",
        [&](policy_context& now) {
            seen.push_back(now.counter("/threads/count/cumulative"));
            EXPECT_EQ(now.counter("/threads/count/cumulative"), seen.back());
            calls += 1;
        },
        k_patient);
    k_step.fire();
    ASSERT_TRUE(eventually([&] { return calls == 1; }));
    run_tasks(5);
    k_step.fire();
    ASSERT_TRUE(eventually([&] { return calls == 2; }));
    k_step.fire();
    ASSERT_TRUE(eventually([&] { return calls == 3; }));
    EXPECT_EQ(seen, (std::vector<double>{10, 5, 0}));
}

// Holds: policy: try_counter() says why there is no value, counter() throws it; a name of no
// counter, and one of several, are errors.
TEST(policy_counters_test, says_why_a_counter_has_no_value) {
    const quern::runtime rt(quern::runtime_options::with_workers(2));
    auto broken = quern::counters::install(
        "/test/broken", []() -> double { throw std::runtime_error("no sensor"); });
    std::vector<std::string> seen;
    std::atomic<bool> is_done{false};
    const policy_handle kept = every(
        1ms, "reasons",
        [&](policy_context& now) {
            seen = {now.try_counter("/test/broken").why,
                    message_of([&] { now.counter("/test/broken"); }),
                    message_of([&] { now.counter("/threads/idle-rat"); }),
                    message_of([&] { now.counter("/threads{worker-thread#*}/idle-rate"); })};
            is_done = true;
            now.stop();
        },
        k_patient);
    ASSERT_TRUE(eventually([&] { return is_done.load(); }));
    EXPECT_NE(seen[0].find("no sensor"), std::string::npos) << seen[0];
    EXPECT_EQ(seen[1], "quern: counter '/test/broken' has no value: " + seen[0]);
    EXPECT_NE(seen[2].find("/threads/idle-rate"), std::string::npos) << seen[2];
    EXPECT_EQ(seen[3],
              "quern: '/threads{worker-thread#*}/idle-rate' stands for 2 counters; a policy reads "
              "one");
}

// Holds: policy: One that throws is ended, with a message on stderr and in the log; others
// continue.
TEST(policy_failure_test, ends_a_policy_that_throws) {
    std::atomic<int> good_calls{0};
    std::atomic<int> bad_calls{0};
    const policy_handle good = every(
        1ms, "good", [&](policy_context&) { good_calls += 1; }, k_patient);
    testing::internal::CaptureStderr();
    const policy_handle bad = every(
        1ms, "bad",
        [&](policy_context&) {
            bad_calls += 1;
            throw std::runtime_error("no such grid");
        },
        k_patient);
    const policy_handle odd = on(
        k_step, "odd", [](policy_context&) { throw 1; }, k_patient);
    k_step.fire();
    ASSERT_TRUE(eventually([&] { return !bad.is_active() && !odd.is_active(); }));
    ASSERT_TRUE(
        eventually([&] { return decisions_of("odd").size() + decisions_of("bad").size() == 2; }));
    const int before = good_calls;
    EXPECT_TRUE(eventually([&] { return good_calls > before + 3; }));
    EXPECT_EQ(bad_calls, 1);
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find("quern: policy 'bad' is not called again: it threw an exception: no such "
                        "grid\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("quern: policy 'odd' is not called again: it threw an exception of no "
                        "standard type\n"),
              std::string::npos)
        << text;
    EXPECT_EQ(quern::adaptation::text_of(decisions_of("bad").front()),
              "bad: registered 1 -> 0: it threw an exception: no such grid");
}

// Holds: policy: One of which a call takes longer than its budget is ended, with a message; the
// default is 100 ms.
// Holds: policy: The time in its calls is counted by /adaptation/policy-time.
TEST(policy_failure_test, ends_a_policy_that_takes_too_long) {
    EXPECT_EQ(policy_options{}.budget, 100ms);
    const double before = quern::adaptation::all_totals().policy_ns;
    testing::internal::CaptureStderr();
    const policy_handle slow = every(
        1ms, "slow-one", [](policy_context&) { quern_test::work_for(20ms); }, {.budget = 10ms});
    ASSERT_TRUE(eventually([&] { return !decisions_of("slow-one").empty(); }));
    EXPECT_FALSE(slow.is_active());
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(text.find("quern: policy 'slow-one' is not called again: a call took "), 0U) << text;
    EXPECT_NE(text.find(" of processor time, and its budget is 10.0 ms\n"), std::string::npos)
        << text;
    EXPECT_GE(quern::adaptation::all_totals().policy_ns - before, 20e6);
}

// Holds: policy: Without a name, a function, a kind of event, a queue, a budget or a period above
// 0 it is refused, and so is a pool whose runtime has ended.
TEST(policy_failure_test, refuses_wrong_registrations) {
    const auto nothing = [](policy_context&) {};
    const auto refusal = [](auto&& make) { return message_of([&] { auto kept = make(); }); };
    EXPECT_EQ(refusal([&] { return every(1ms, "", nothing); }), "quern: a policy needs a name");
    EXPECT_EQ(refusal([&] { return every(0ms, "p", nothing); }),
              "quern: policy 'p' needs a period above 0");
    EXPECT_EQ(refusal([&] { return every(1ms, "p", {}); }), "quern: policy 'p' needs a function");
    EXPECT_EQ(refusal([&] { return on(quern::trace::event_mask(), "p", nothing); }),
              "quern: policy 'p' needs a kind of event");
    EXPECT_EQ(refusal([&] { return on(k_step, "p", nothing, {.queue = 0}); }),
              "quern: policy 'p' needs a queue of at least one event");
    EXPECT_EQ(refusal([&] { return on(k_step, "p", nothing, {.budget = 0ns}); }),
              "quern: policy 'p' needs a budget above 0");
}

// Holds: policy: Without a runtime alive it is called, and what needs a pool throws.
TEST(policy_failure_test, says_that_it_needs_a_runtime) {
    std::vector<std::string> seen;
    std::atomic<bool> is_done{false};
    const policy_handle kept = every(
        1ms, "alone",
        [&](policy_context& now) {
            EXPECT_FALSE(now.has_pool());
            seen = {message_of([&] { now.pool(); }), message_of([&] { now.set("spin-us", 1, ""); }),
                    message_of([&] { now.counter("/runtime/uptime"); }),
                    message_of([&] { now.get("spin-us"); })};
            is_done = true;
            now.stop();
        },
        k_patient);
    ASSERT_TRUE(eventually([&] { return is_done.load(); }));
    for (const std::string& each : seen) {
        EXPECT_EQ(each, "quern: policy 'alone' needs a runtime, and none is alive");
    }
}

// Holds: policy: Tasks, plain threads and policies may register and end policies.
TEST_P(policy_test, may_be_registered_anywhere) {
    quern::runtime rt(options());
    std::atomic<int> calls{0};
    const auto count = [&](policy_context&) { calls += 1; };
    policy_handle of_task =
        quern::async(rt, [&] { return every(1ms, "of-task", count, k_patient); }).get();
    ASSERT_TRUE(eventually([&] { return calls >= 2; }));
    quern::async(rt, [&] { of_task.stop(); }).get();
    calls = 0;
    std::optional<policy_handle> inner;
    std::atomic<bool> is_made{false};
    policy_handle outer = every(
        1ms, "outer",
        [&](policy_context& now) {
            inner = every(1ms, "inner", count, k_patient);
            is_made = true;
            now.stop();
        },
        k_patient);
    ASSERT_TRUE(eventually([&] { return is_made && calls >= 2; }));
    outer.stop();
    inner.reset();
    const int last = calls;
    std::this_thread::sleep_for(5ms);
    EXPECT_EQ(calls, last);
}

// Holds: global_value: publish() sets, get() reads the value of this process; reduce() of one
// process is its value; there is none before.
TEST(global_value_test, is_published_and_reduced) {
    const quern::adaptation::global_value load("test-load");
    EXPECT_FALSE(load.get().has_value());
    EXPECT_FALSE(load.reduce(quern::adaptation::reduction::sum).has_value());
    load.publish(0.5);
    const quern::adaptation::global_value same("test-load");
    EXPECT_EQ(same.get(), 0.5);
    EXPECT_EQ(same.reduce(quern::adaptation::reduction::most), 0.5);
    EXPECT_THROW(quern::adaptation::global_value(""), std::invalid_argument);
}

}  // namespace
