// SPDX-License-Identifier: BSL-1.0
// The results of a recorder for programs with known tasks, on 1, 2 and 8 workers.
#include <quern/base/detail/config.hpp>
#include <quern/task/async.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/this_task.hpp>
#include <quern/trace/efficiency.hpp>
#include <quern/trace/events.hpp>
#include <quern/trace/recorder.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace {

using quern::trace::recording;
using quern::trace::site;
using quern::trace::slice;

/// The sum over all kinds of one name.
site named(const recording& run, std::string_view name) {
    site sum;
    for (const site& s : run.sites) {
        if (s.name == name) {
            sum.tasks += s.tasks;
            sum.phases += s.phases;
            sum.suspensions += s.suspensions;
            sum.inlined += s.inlined;
            sum.total_ns += s.total_ns;
            sum.location = s.location;
        }
    }
    return sum;
}

template <class Visit>
void for_each_slice(const recording& run, Visit visit) {
    for (const auto& lane : run.lanes) {
        for (const slice& s : lane.slices) {
            visit(s);
        }
    }
}

/// Slices of a lane come one after another, and every task has one first slice and one end.
void expect_sound(const recording& run) {
    std::map<std::uint64_t, int> first;
    std::map<std::uint64_t, int> ended;
    for (const auto& lane : run.lanes) {
        std::uint64_t last = 0;
        for (const slice& s : lane.slices) {
            EXPECT_LE(last, s.begin_ns + 1);  // rounded
            EXPECT_LE(s.begin_ns, s.end_ns);
            EXPECT_LE(s.ready_ns, s.begin_ns);
            EXPECT_NE(s.task, 0U);
            EXPECT_LT(s.site, run.sites.size());
            last = s.end_ns;
            first[s.task] += s.first ? 1 : 0;
            ended[s.task] += s.suspended || s.covered ? 0 : 1;
        }
        EXPECT_LE(last, run.duration_ns + 1);
        EXPECT_EQ(lane.dropped, 0U);
    }
    for (const auto& [task, count] : first) {
        EXPECT_EQ(count, 1) << "task " << task;
        EXPECT_EQ(ended[task], 1) << "task " << task;
    }
}

class recorder_test : public quern_test::on_runtime {
protected:
    template <class F>
    recording record(F&& f) {
        quern::trace::recorder recorder(rt);
        inside(std::forward<F>(f));
        rt.default_pool().get().wait_until_quiet();
        return recorder.stop();
    }
};

/// The time in which the tasks of a recording were made, in nanoseconds.
double making(const recording& run) {
    double sum = 0;
    for (const auto& lane : run.lanes) {
        EXPECT_LE(lane.totals.making_ns, lane.totals.managing_ns);
        sum += lane.totals.making_ns;
    }
    return sum;
}

TEST_P(recorder_test, counts_the_making_of_tasks) {
    static constexpr int k_tasks = 1000;
    EXPECT_GT(making(record([] {
                  quern::task_group group;
                  for (int i = 0; i < k_tasks; ++i) {
                      group.run([] {});
                  }
                  group.wait();
              })),
              k_tasks * 5.0);  // nanoseconds: no allocation is faster
    EXPECT_GT(making(record([] {
                  auto last = quern::make_ready_future(0);
                  for (int i = 0; i < k_tasks; ++i) {
                      last = last.then([](auto before) { return before.get() + 1; });
                  }
                  EXPECT_EQ(last.get(), k_tasks);
              })),
              k_tasks * 5.0);
}

// In a runtime that has made none before: of an estimate above the time there was, the rest
// appears later.
TEST_P(recorder_test, counts_no_making_without_tasks) {
    EXPECT_EQ(making(record([] { quern_test::spin_for(std::chrono::milliseconds(1)); })), 0.0);
}

TEST_P(recorder_test, counts_every_task_once) {
    constexpr int k_tasks = 1000;
    const recording run = record([] {
        quern::task_group group;
        for (int i = 0; i < k_tasks; ++i) {
            group.run({.name = "small"}, [] {});
        }
        group.wait();
    });
    expect_sound(run);
    const site small = named(run, "small");
    EXPECT_EQ(small.tasks, k_tasks);
    EXPECT_EQ(small.phases, k_tasks);
    EXPECT_EQ(small.suspensions, 0U);
    EXPECT_EQ(run.lanes.size(), workers());
}

TEST_P(recorder_test, counts_tasks_that_their_waiter_runs_once_and_as_inlined) {
    constexpr int k_tasks = 200;
    const recording run = record([] {
        for (int i = 0; i < k_tasks; ++i) {
            quern::async({.name = "waited for"}, [] {}).get();
        }
    });
    expect_sound(run);
    EXPECT_EQ(named(run, "waited for").tasks, k_tasks);
    if (workers() == 1) {
        EXPECT_EQ(named(run, "waited for").inlined, k_tasks);
    }
}

TEST_P(recorder_test, a_task_that_waits_has_a_piece_more_each_time) {
    const recording run = record([] {
        auto f = quern::async({.name = "yields", .stack = quern::stack_class::medium}, [] {
            for (int i = 0; i < 5; ++i) {
                quern::this_task::yield();
            }
        });
        f.get();
    });
    expect_sound(run);
    const site s = named(run, "yields");
    EXPECT_EQ(s.tasks, 1U);
    EXPECT_EQ(s.suspensions, 5U);
    EXPECT_EQ(s.phases, 6U);
    std::map<std::uint64_t, double> spent;
    for_each_slice(run, [&](const slice& each) {
        if (run.sites[each.site].name == "yields") {
            spent[each.task] += static_cast<double>(each.end_ns - each.begin_ns);
        }
    });
    ASSERT_EQ(spent.size(), 1U);
    EXPECT_NEAR(spent.begin()->second, s.total_ns, 20.0);  // each piece is rounded
}

TEST_P(recorder_test, knows_who_made_whom_and_who_woke_whom) {
    std::atomic<std::uint64_t> parent{0};
    std::atomic<std::uint64_t> waker{0};
    const recording run = record([&] {
        auto start = quern::async({.name = "parent"}, [&] {
            parent = quern::this_task::id();
            auto gate = std::make_shared<quern::promise<void>>();
            auto waits = quern::async({.name = "waits", .stack = quern::stack_class::medium},
                                      [f = gate->get_future()]() mutable { f.get(); });
            quern::this_task::sleep_for(std::chrono::milliseconds(20));
            auto wakes = quern::async({.name = "wakes", .stack = quern::stack_class::medium},
                                      [&waker, gate] {
                                          waker = quern::this_task::id();
                                          gate->set_value();
                                      });
            wakes.get();
            waits.get();
        });
        start.get();
    });
    expect_sound(run);
    bool was_woken = false;
    for_each_slice(run, [&](const slice& s) {
        const std::string& name = run.sites[s.site].name;
        if (name == "waits" || name == "wakes") {
            EXPECT_EQ(s.parent, parent.load());
        }
        if (name == "waits" && !s.first) {
            EXPECT_EQ(s.cause, waker.load());
            was_woken = true;
        }
    });
    EXPECT_TRUE(was_woken);
    EXPECT_GT(run.critical_path_ns, 0.0);
    std::uint64_t made = 0;
    for (const auto& edge : run.tree) {
        if (run.sites[edge.parent].name == "parent") {
            made += edge.tasks;
        }
    }
    EXPECT_EQ(made, 2U);
}

TEST_P(recorder_test, a_timer_is_nobodys_doing) {
    const recording run = record([] {
        quern::async({.name = "sleeps", .stack = quern::stack_class::medium}, [] {
            quern::this_task::sleep_for(std::chrono::milliseconds(2));
        }).get();
    });
    for_each_slice(run, [&](const slice& s) {
        if (run.sites[s.site].name == "sleeps" && !s.first) {
            EXPECT_EQ(s.cause, 0U);
            EXPECT_NE(s.ready_ns, 0U);
        }
    });
}

TEST_P(recorder_test, forks_that_are_stolen_are_tasks_of_their_parent) {
    const recording run = record([&] {
        quern_test::spin_gate stolen;
        quern::fork_join([&] { stolen.open(); },
                         [&] {
                             if (workers() > 1) {
                                 stolen.pass();
                             }
                         });
    });
    expect_sound(run);
    std::uint64_t stolen = 0;
    for_each_slice(run, [&](const slice& s) {
        if (s.stolen && s.first && s.parent != 0) {
            ++stolen;
        }
    });
    EXPECT_GE(stolen, workers() > 1 ? 1U : 0U);
}

TEST_P(recorder_test, a_task_that_began_before_counts_from_then_on) {
    quern_test::spin_gate go;
    auto early = quern::async({.name = "early", .pool = &rt.default_pool().get()}, [&] {
        go.pass();
        return quern::this_task::id();
    });
    const auto running = [&] { return rt.default_pool().get().activations() != 0; };
    ASSERT_TRUE(quern_test::eventually(running));
    quern::trace::recorder recorder(rt);
    go.open();
    early.get();
    rt.default_pool().get().wait_until_quiet();
    const recording run = recorder.stop();
    EXPECT_EQ(named(run, "early").tasks, 1U);
    EXPECT_LE(named(run, "early").total_ns, static_cast<double>(run.duration_ns) + 1);
}

TEST_P(recorder_test, several_record_one_runtime_from_different_times) {
    quern::trace::recorder first(rt);
    inside([] { quern::async({.name = "one"}, [] {}).get(); });
    quern::trace::recorder second(rt, {.events_per_worker = 0});
    inside([] { quern::async({.name = "two"}, [] {}).get(); });
    rt.default_pool().get().wait_until_quiet();
    const recording of_second = second.stop();
    inside([] { quern::async({.name = "three"}, [] {}).get(); });
    rt.default_pool().get().wait_until_quiet();
    const recording of_first = first.stop();
    EXPECT_EQ(named(of_first, "one").tasks, 1U);
    EXPECT_EQ(named(of_first, "two").tasks, 1U);
    EXPECT_EQ(named(of_first, "three").tasks, 1U);
    EXPECT_EQ(named(of_second, "one").tasks, 0U);
    EXPECT_EQ(named(of_second, "two").tasks, 1U);
    EXPECT_EQ(named(of_second, "three").tasks, 0U);
    for_each_slice(of_second, [](const slice&) { ADD_FAILURE() << "statistics alone"; });
}

TEST_P(recorder_test, can_be_stopped_while_tasks_run) {
    std::atomic<bool> enough{false};
    auto load = quern::async(rt, [&] {
        quern::task_group group;
        while (!enough) {
            for (int i = 0; i < 100; ++i) {
                group.run({.name = "small"}, [] { quern::this_task::yield(); });
            }
            group.wait();
        }
    });
    for (int i = 0; i < quern_test::scaled(20, 5); ++i) {
        quern::trace::recorder recorder(rt);
        const auto busy = [&] { return rt.totals().tasks > 0; };
        ASSERT_TRUE(quern_test::eventually(busy));
        quern_test::spin_for(std::chrono::microseconds(500));
        const recording run = recorder.stop();
        EXPECT_EQ(run.lanes.size(), workers());
    }
    enough = true;
    load.get();
}

/// Overwrites the stack below the caller.
QUERN_NOINLINE void write_over_stack() {
    volatile char spoilt[4096];
    for (volatile char& each : spoilt) {
        each = 0x55;
    }
}

TEST_P(recorder_test, a_task_that_has_run_others_in_its_place_is_seen_by_who_stops_it) {
    quern::trace::recorder watch(rt);
    std::atomic<bool> stopped{false};
    std::atomic<bool> has_run{false};
    auto outer = quern::async({.name = "outer", .pool = &rt.default_pool().get()}, [&] {
        quern::async({.name = "inner"}, [] {}).get();
        write_over_stack();
        has_run = true;
        while (!stopped) {
        }
    });
    while (!has_run) {
        std::this_thread::yield();
    }
    const recording run = watch.stop();
    stopped = true;
    outer.get();
    EXPECT_EQ(named(run, "inner").tasks, 1U);
    bool seen = false;
    for_each_slice(run, [&](const slice& s) { seen = seen || run.sites[s.site].name == "outer"; });
    EXPECT_TRUE(seen);
}

TEST_P(recorder_test, the_task_that_stops_it_is_seen_too) {
    const recording run = inside([this] {
        quern::trace::recorder recorder(rt);
        quern::async({.name = "child"}, [] {}).get();
        return recorder.stop();
    });
    std::uint64_t own = 0;
    for_each_slice(run, [&](const slice& s) {
        if (run.sites[s.site].name != "child") {
            own += s.end_ns - s.begin_ns;
            EXPECT_LE(s.end_ns, run.duration_ns + 1);
        }
    });
    EXPECT_GT(own, 0U);
    EXPECT_EQ(named(run, "child").tasks, 1U);
}

TEST_P(recorder_test, takes_samples_and_marks_of_the_program) {
    const recording run = record([] {
        quern::trace::sample("residual", 0.5);
        quern::trace::sample("residual", 0.25);
        quern::trace::mark("half way");
        quern::trace::mark("tuner", "grain 10 -> 20");
    });
    bool found = false;
    for (const auto& each : run.counters) {
        if (each.name == "residual") {
            found = true;
            ASSERT_EQ(each.points.size(), 2U);
            EXPECT_EQ(each.points[1].second, 0.25);
            EXPECT_LE(each.points[0].first, each.points[1].first);
        }
    }
    EXPECT_TRUE(found);
    ASSERT_EQ(run.decisions.size(), 2U);
    EXPECT_EQ(run.decisions[0].what, "half way");
    EXPECT_EQ(run.decisions[1].who, "tuner");
    quern::trace::sample("nobody records", 1.0);
}

QUERN_ON_1_2_8_WORKERS(recorder_test);

TEST(recorder_end_test, the_end_of_the_runtime_is_the_end_of_the_recording) {
    auto rt = std::make_unique<quern::runtime>(quern::runtime_options::with_workers(2));
    quern::trace::recorder recorder(*rt);
    quern::async(*rt, [] {}).get();
    rt.reset();
    const recording run = recorder.stop();
    EXPECT_FALSE(run.sites.empty());
    EXPECT_EQ(run.lanes.size(), 2U);
    EXPECT_TRUE(recorder.stop().sites.empty());
}

TEST(recorder_end_test, of_a_runtime_without_tasks_says_where_they_ran) {
    quern::async([] {}).get();
    quern::runtime idle(quern::runtime_options::with_workers(1));
    const recording run = quern::trace::recorder(idle).stop();
    EXPECT_NE(run.why_no_task.find("have run on another one"), std::string::npos)
        << run.why_no_task;
    const auto words = quern::trace::verdict_text(quern::trace::efficiency_of(run));
    EXPECT_NE(words.find("No task has run on this"), std::string::npos) << words;
    quern::trace::recorder other(idle);
    quern::async(idle, [] {}).get();
    idle.default_pool().get().wait_until_quiet();  // a task is counted after its future is ready
    EXPECT_EQ(other.stop().why_no_task, "");
}

TEST(recorder_end_test, a_runtime_that_nobody_records_any_more_has_no_hooks) {
    quern::runtime rt(quern::runtime_options::with_workers(2));
    {
        const quern::trace::recorder recorder(rt);
        EXPECT_NE(rt.default_pool().get().hooks(), nullptr);
    }
    EXPECT_EQ(rt.default_pool().get().hooks(), nullptr);
}

TEST(recorder_end_test, drops_are_counted) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    quern::trace::recorder recorder(rt, {.events_per_worker = 10});
    quern::async(rt, [] {
        for (int i = 0; i < 100; ++i) {
            quern::this_task::yield();
        }
    }).get();
    rt.default_pool().get().wait_until_quiet();
    const recording run = recorder.stop();
    EXPECT_EQ(run.lanes[0].slices.size() + run.lanes[0].parked.size(), 10U);
    EXPECT_GE(run.lanes[0].dropped, 91U);
    EXPECT_EQ(run.critical_path_ns, 0.0);
}

TEST(recorder_messages_test, keeps_those_of_tasks_in_full) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    const quern::trace::message_info first{true,
                                           0x7fff'fff0,
                                           0x7fff'fff1,
                                           0x8000'0000'0000U - 1,
                                           0xffff'ffff'ffffU,
                                           0x8000'0000'0001U};
    const quern::trace::message_info second{false, -1, 0, 0, 0, 0};
    EXPECT_FALSE(quern::trace::is_wanted(quern::trace::event_kind::message));
    quern::trace::recorder recorder(rt);
    EXPECT_TRUE(quern::trace::is_wanted(quern::trace::event_kind::message));
    std::uint64_t task = 0;
    quern::async(rt, [&] {
        task = quern::this_task::id();
        quern::trace::tell_message(first);
        quern::trace::tell_message(second);
    }).get();
    quern::trace::tell_message(first);  // of a thread outside
    const recording run = recorder.stop();
    EXPECT_FALSE(quern::trace::is_wanted(quern::trace::event_kind::message));
    ASSERT_EQ(run.lanes.size(), 1U);
    ASSERT_EQ(run.lanes[0].messages.size(), 2U);
    const quern::trace::passed_message& sent = run.lanes[0].messages[0];
    EXPECT_TRUE(sent.is_sent);
    EXPECT_EQ(sent.peer, first.peer);
    EXPECT_EQ(sent.tag, first.tag);
    EXPECT_EQ(sent.bytes, first.bytes);
    EXPECT_EQ(sent.context, first.context);
    EXPECT_EQ(sent.order, first.order);
    EXPECT_EQ(sent.task, task);
    const quern::trace::passed_message& received = run.lanes[0].messages[1];
    EXPECT_FALSE(received.is_sent);
    EXPECT_EQ(received.peer, -1);
    EXPECT_LE(sent.at_ns, received.at_ns);
    ASSERT_EQ(run.outside.size(), 1U);
    EXPECT_EQ(run.outside[0].tag, first.tag);
    EXPECT_EQ(run.outside[0].order, first.order);
    EXPECT_LE(received.at_ns, run.outside[0].at_ns);
}

TEST(recorder_messages_test, those_without_room_are_counted) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    quern::trace::recorder recorder(rt, {.events_per_worker = 3});
    quern::async(rt, [&] {
        for (int i = 0; i < 3; ++i) {
            quern::trace::tell_message({.is_sent = true});
        }
    }).get();
    for (int i = 0; i < 5; ++i) {
        quern::trace::tell_message({.is_sent = true});
    }
    const recording run = recorder.stop();
    EXPECT_LE(run.lanes[0].messages.size(), 1U);  // each takes the room of two events
    EXPECT_GE(run.lanes[0].dropped, 2U);
    EXPECT_EQ(run.outside.size(), 3U);
    EXPECT_EQ(run.outside_dropped, 2U);
}

}  // namespace
