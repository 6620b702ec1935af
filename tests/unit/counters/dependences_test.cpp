// SPDX-License-Identifier: BSL-1.0
// What the counters /dependences/... say of domains whose tasks and accesses are known.
#include <quern/base/detail/config.hpp>
#include <quern/counters/counter.hpp>
#include <quern/dependences/domain.hpp>
#include <quern/dependences/spawn.hpp>
#include <quern/scheduler/knobs.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <string>
#include <vector>

namespace {

using quern::domain;
using quern::in;
using quern::inout;
using quern::out;

class dependence_counters : public quern_test::on_runtime {
protected:
    static double value_of(quern::counters::counter& one) { return one.value().value; }
    quern::counters::counter made(const std::string& name) {
        return quern::counters::create("/dependences/" + name, rt);
    }
};
QUERN_ON_1_2_8_WORKERS(dependence_counters);

TEST_P(dependence_counters, count_accesses_and_the_links_that_were_needed) {
    auto accesses = made("accesses");
    auto edges = made("edges");
    quern::async(rt, [&] {
        domain work;
        int a = 0;
        std::vector<int> empty;
        work.spawn(out(a), [] {});
        work.taskwait();
        work.spawn(in(a), in(empty), [] {});  // has nothing to wait for
    }).get();
    EXPECT_EQ(value_of(accesses), 2);
    EXPECT_EQ(value_of(edges), 0);
    quern_test::spin_gate gate;
    domain work(rt.default_pool());
    int a = 0;
    int b = 0;
    work.spawn(out(a), [&] { gate.pass(); });
    work.spawn(in(a), out(b), [] {});
    work.spawn(in(a), in(b), [] {});
    EXPECT_EQ(value_of(accesses), 7);  // at once, not at the end
    EXPECT_EQ(value_of(edges), 3);
    gate.open();
    work.taskwait();
    EXPECT_EQ(value_of(edges), 3);
}

TEST_P(dependence_counters, know_the_tasks_that_live) {
    auto live = made("live");
    const double before = value_of(live);
    {
        quern_test::spin_gate gate;
        domain work(rt.default_pool());
        int a = 0;
        for (int i = 0; i < 5; ++i) {
            work.spawn(inout(a), [&] { gate.pass(); });
        }
        EXPECT_EQ(value_of(live) - before, 5);
        gate.open();
        work.taskwait();
        EXPECT_EQ(value_of(live) - before, 0);
        work.spawn(inout(a), [] {});
        work.taskwait();
        EXPECT_EQ(value_of(live) - before, 0);
    }
    EXPECT_EQ(value_of(live) - before, 0);
}

// Also while the owner waits.
TEST_P(dependence_counters, know_the_tasks_that_live_while_their_owner_waits) {
    auto live = made("live");
    const double before = value_of(live);
    quern_test::waiting_room room;
    auto owner = quern::async(rt, [&] {
        domain work;
        int a = 0;
        work.spawn(inout(a), [&] { room.wait(); });
        work.spawn(inout(a), [] {});
        work.spawn(inout(a), [] {});
        work.taskwait();
    });
    EXPECT_TRUE(quern_test::eventually([&] { return room.size() == 1; }));
    EXPECT_TRUE(quern_test::eventually([&] { return value_of(live) - before == 3; }));
    room.resume_all();
    owner.get();
    EXPECT_EQ(value_of(live) - before, 0);
}

TEST_P(dependence_counters, count_what_is_released_before_its_task_is_complete) {
    auto early = made("released-early");
    quern_test::waiting_room room;
    quern::async(rt, [&] {
        domain work;
        int a = 0;
        int b = 0;
        int c = 0;
        work.spawn(inout(a), inout(b), inout(c), [&](int&, int& used, int& used_at_first) {
            quern::spawn(inout(used), [&] { room.wait(); });
            quern::spawn(inout(used_at_first), [] {});
        });
        work.spawn(in(a), in(c), [&] {
            while (room.size() == 0) {
                quern::this_task::yield();
            }
            room.resume_all();
        });
        work.taskwait();
        work.spawn(inout(a), [](int& v) {
            quern::spawn(inout(v), [] {});
            quern::taskwait();
        });
        work.spawn(inout(a), [] {});
    }).get();
    EXPECT_EQ(value_of(early), 3);  // of the first task: b when the child that used it had ended
}

TEST_P(dependence_counters, count_waits_at_the_limit) {
    auto throttled = made("throttled");
    rt.default_pool().set_knob("live-tasks", 16);
    quern::async(rt, [] {
        domain work;
        int a = 0;
        for (int i = 0; i < 10; ++i) {
            work.spawn(inout(a), [] {});
        }
    }).get();
    EXPECT_EQ(value_of(throttled), 0);
    quern::async(rt, [] {
        domain work;
        int a = 0;
        for (int i = 0; i < 1000; ++i) {
            work.spawn(inout(a), [] { quern_test::spin_for(std::chrono::microseconds(1)); });
        }
    }).get();
    EXPECT_GT(value_of(throttled), 0);
    rt.default_pool().set_knob("live-tasks", 10'000);
}

TEST_P(dependence_counters, count_tasks_at_the_writer_of_their_data) {
    auto all = made("with-last-writer");
    auto there = made("at-last-writer");
    std::vector<char> large(std::size_t{256} << 10);
    char small = 0;
    quern::async(rt, [&] {
        domain work;
        for (int i = 0; i < 5; ++i) {
            work.spawn(inout(large), inout(small), [] {});
            work.spawn(inout(small), [] {});
        }
    }).get();
    EXPECT_EQ(value_of(all), 4);
    EXPECT_LE(value_of(there), 4);
    if (workers() == 1) {
        EXPECT_EQ(value_of(there), 4);
    }
}

}  // namespace
