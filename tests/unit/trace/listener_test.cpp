// SPDX-License-Identifier: BSL-1.0
// Listeners get all events, several at the same time, from their addition to their removal.
#include <quern/task/async.hpp>
#include <quern/task/task_group.hpp>
#include <quern/task/this_task.hpp>
#include <quern/trace/listener.hpp>
#include <quern/trace/recorder.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <thread>

namespace {

using quern::trace::custom_event;
using quern::trace::event_kind;
using quern::trace::event_mask;
using quern::trace::listen;
using quern::trace::task_event;
using quern::trace::worker_event;

constexpr custom_event k_fired("fired");

/// Counts the events of tasks with one name.
struct counting : quern::trace::listener {
    bool is_mine(const task_event& e) const noexcept {
        return e.name != nullptr && std::strcmp(e.name, "mine") == 0;
    }
    void on_made(const task_event& e) noexcept override { made += is_mine(e) ? 1 : 0; }
    void on_start(const task_event& e) noexcept override { started += is_mine(e) ? 1 : 0; }
    void on_stop(const task_event& e) noexcept override { stopped += is_mine(e) ? 1 : 0; }
    void on_suspend(const task_event& e) noexcept override { suspended += is_mine(e) ? 1 : 0; }
    void on_resume(const task_event& e) noexcept override { resumed += is_mine(e) ? 1 : 0; }
    void on_sample(std::string_view, double value) noexcept override { last_value = value; }
    void on_mark(std::string_view, std::string_view) noexcept override { ++marks; }
    void on_custom(const task_event&, const custom_event&, double) noexcept override { ++custom; }

    std::atomic<int> made{0}, started{0}, stopped{0}, suspended{0}, resumed{0}, marks{0}, custom{0};
    std::atomic<double> last_value{0};
};

constexpr int k_tasks = 50;

class listener_test : public quern_test::on_runtime {
protected:
    void run_tasks() {
        inside([] {
            quern::task_group group;
            for (int i = 0; i < k_tasks; ++i) {
                group.run({.name = "mine"}, [] { quern::this_task::yield(); });
            }
            group.wait();
        });
        rt.default_pool().get().wait_until_quiet();
    }
};

// Holds: listener: Without a mask it hears of everything.
TEST_P(listener_test, hears_of_every_step_of_a_task) {
    counting seen;
    const auto handle = listen(seen);
    run_tasks();
    EXPECT_EQ(seen.made, k_tasks);
    EXPECT_EQ(seen.started, k_tasks);
    EXPECT_EQ(seen.suspended, k_tasks);
    EXPECT_EQ(seen.resumed, k_tasks);
    EXPECT_EQ(seen.stopped, k_tasks);
}

TEST_P(listener_test, hears_nothing_before_and_after) {
    run_tasks();
    counting seen;
    auto handle = listen(seen);
    handle.stop();
    run_tasks();
    quern::trace::mark("unheard");
    EXPECT_EQ(seen.started, 0);
    EXPECT_EQ(seen.marks, 0);
}

// Holds: listener: Several may listen at a time, each until it stops.
TEST_P(listener_test, several_listen_each_on_its_own) {
    counting one;
    counting other;
    auto first = listen(one);
    auto second = listen(other);
    run_tasks();
    first.stop();
    run_tasks();
    EXPECT_EQ(one.started, k_tasks);
    EXPECT_EQ(other.started, 2 * k_tasks);
}

TEST_P(listener_test, hears_samples_and_marks) {
    counting seen;
    const auto handle = listen(seen);
    inside([] {
        quern::trace::sample("residual", 0.5);
        quern::trace::mark("half way");
    });
    EXPECT_EQ(seen.last_value, 0.5);
    EXPECT_EQ(seen.marks, 1);
}

TEST_P(listener_test, comes_and_goes_while_tasks_run) {
    std::atomic<bool> enough{false};
    auto load = quern::async(rt, [&] {
        quern::task_group group;
        while (!enough) {
            for (int i = 0; i < 20; ++i) {
                group.run({.name = "mine"}, [] { quern::this_task::yield(); });
            }
            group.wait();
        }
    });
    for (int i = 0; i < quern_test::scaled(200, 30); ++i) {
        counting seen;
        auto handle = listen(seen);
        if (i % 2 == 0) {
            ASSERT_TRUE(quern_test::eventually([&] { return seen.started > 0; }));
        }
    }
    enough = true;
    load.get();
}

// Holds: listener: A mask names the kinds of events of which it hears; of others it does not.
TEST_P(listener_test, hears_of_the_kinds_in_its_mask_alone) {
    counting starts;
    counting ends;
    const auto first = listen(starts, event_kind::task_start);
    const auto second = listen(ends, event_kind::task_stop | event_kind::mark);
    run_tasks();
    quern::trace::mark("heard by one");
    k_fired.fire();
    EXPECT_EQ(starts.started, k_tasks);
    EXPECT_EQ(starts.made + starts.stopped + starts.suspended + starts.resumed + starts.marks, 0);
    EXPECT_EQ(ends.stopped, k_tasks);
    EXPECT_EQ(ends.marks, 1);
    EXPECT_EQ(ends.made + ends.started + ends.suspended + ends.resumed, 0);
    EXPECT_EQ(starts.custom + ends.custom, 0);
}

// Holds: listener: It costs tasks nothing while it wants events neither of tasks nor of parking.
TEST_P(listener_test, attaches_nothing_to_pools_unless_it_wants_what_happens_there) {
    const auto hooks = [this] { return rt.default_pool().get().hooks(); };
    constexpr event_mask k_elsewhere = quern::trace::k_runtime_events | event_kind::worker_start |
                                       event_kind::worker_stop | event_kind::sample |
                                       event_kind::mark | event_kind::message | event_kind::edge |
                                       event_kind::custom;
    counting seen;
    auto elsewhere = listen(seen, k_elsewhere);
    EXPECT_EQ(hooks(), nullptr);
    run_tasks();
    k_fired.fire();
    EXPECT_EQ(seen.custom, 1);
    for (const event_kind one :
         {event_kind::task_made, event_kind::task_start, event_kind::task_stop,
          event_kind::task_suspend, event_kind::task_resume, event_kind::worker_park,
          event_kind::worker_unpark}) {
        counting other;
        auto there = listen(other, one);
        EXPECT_NE(hooks(), nullptr);
        there.stop();
        EXPECT_EQ(hooks(), nullptr);
    }
}

// Holds: listener: Wanted kinds are known before an event is described.
TEST_P(listener_test, tells_which_kinds_are_wanted) {
    using quern::trace::is_wanted;
    EXPECT_FALSE(is_wanted(event_kind::custom));
    counting one;
    counting other;
    auto first = listen(one, event_kind::custom);
    auto second = listen(other, event_kind::custom | event_kind::edge);
    EXPECT_TRUE(is_wanted(event_kind::custom));
    EXPECT_TRUE(is_wanted(event_kind::edge));
    EXPECT_FALSE(is_wanted(event_kind::message));
    second.stop();
    EXPECT_TRUE(is_wanted(event_kind::custom));
    EXPECT_FALSE(is_wanted(event_kind::edge));
    first.stop();
    EXPECT_FALSE(is_wanted(event_kind::custom));
}

/// Keeps the last event of each kind.
struct keeping final : quern::trace::listener {
    static bool is_mine(const task_event& e) noexcept {
        return e.name != nullptr && std::strcmp(e.name, "kept") == 0;
    }
    void on_made(const task_event& e) noexcept override { keep(made, e); }
    void on_start(const task_event& e) noexcept override { keep(start, e); }
    void on_suspend(const task_event& e) noexcept override { keep(suspend, e); }
    void on_resume(const task_event& e) noexcept override { keep(resume, e); }
    void on_stop(const task_event& e) noexcept override { keep(stop, e); }
    static void keep(std::optional<task_event>& as, const task_event& e) noexcept {
        if (is_mine(e)) {
            as = e;
        }
    }
    std::optional<task_event> made, start, suspend, resume, stop;
};

// Holds: listener: An event of a task says when, on which worker of which pool, of which task it is,
// which task made it and where, and how long it has run when it ends.
TEST_P(listener_test, is_told_where_and_when) {
    constexpr std::uint64_t k_ms = 1'000'000;
    keeping seen;
    auto handle = listen(seen);
    const std::uint64_t before = quern::trace::event_clock_ns();
    std::uint64_t maker = 0;
    std::uint64_t id = 0;
    inside([&] {
        maker = quern::this_task::id();
        quern::post({.name = "kept"}, [&] {
            id = quern::this_task::id();
            quern_test::spin_for(std::chrono::milliseconds(2));
            quern::this_task::sleep_for(std::chrono::milliseconds(20));
            quern_test::spin_for(std::chrono::milliseconds(2));
        });
    });
    rt.default_pool().get().wait_until_quiet();
    handle.stop();
    ASSERT_TRUE(seen.made && seen.start && seen.suspend && seen.resume && seen.stop);
    std::uint64_t last = before;
    for (const task_event* const e :
         {&*seen.made, &*seen.start, &*seen.suspend, &*seen.resume, &*seen.stop}) {
        EXPECT_GE(e->time_ns, last);
        last = e->time_ns;
        ASSERT_TRUE(e->pool.has_value());
        EXPECT_EQ(&e->pool->get(), &rt.default_pool().get());
        EXPECT_LT(e->worker, workers());
        EXPECT_EQ(e->parent, maker);
        EXPECT_NE(e->site, nullptr);
        EXPECT_EQ(e->site, seen.made->site);
        EXPECT_EQ(e->task, e == &*seen.made ? 0 : id);
    }
    EXPECT_LE(last, quern::trace::event_clock_ns());
    EXPECT_EQ(seen.start->duration_ns + seen.resume->duration_ns + seen.made->duration_ns, 0U);
    EXPECT_GE(seen.suspend->duration_ns, k_ms);
    EXPECT_GE(seen.stop->duration_ns, k_ms);
    EXPECT_EQ(seen.suspend->spent_ns, seen.suspend->duration_ns);
    EXPECT_NEAR(static_cast<double>(seen.stop->spent_ns),
                static_cast<double>(seen.suspend->duration_ns + seen.stop->duration_ns), 10.0);
}

/// Of the workers of one pool.
struct sleepers final : quern::trace::listener {
    void on_park(const worker_event& e) noexcept override {
        parks += e.pool && e.pool->name() == "sleepers" ? 1 : 0;
    }
    void on_unpark(const worker_event& e) noexcept override {
        if (e.pool && e.pool->name() == "sleepers") {
            ++unparks;
            longest = std::max<std::uint64_t>(longest, e.duration_ns);
        }
    }
    std::atomic<int> parks{0}, unparks{0};
    std::atomic<std::uint64_t> longest{0};
};

// Holds: listener: It hears when a worker begins to sleep, and how long it has slept when it wakes.
TEST(listener_of_all_test, hears_of_workers_that_sleep) {
    sleepers seen;
    const auto handle = listen(seen, event_kind::worker_park | event_kind::worker_unpark);
    quern::runtime_options options = quern::runtime_options::with_workers(1);
    options.pools.front().name = "sleepers";
    quern::runtime rt(options);
    for (int i = 1; i <= 3; ++i) {
        quern::async(rt, [] {}).get();
        rt.default_pool().get().wait_until_quiet();
        ASSERT_TRUE(quern_test::eventually([&] { return seen.parks >= i; }));
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    EXPECT_GE(seen.unparks, 2);
    EXPECT_GE(seen.longest, 1'000'000U);
}

QUERN_ON_1_2_8_WORKERS(listener_test);

TEST(listener_of_all_test, hears_of_runtimes_that_are_made_later) {
    counting seen;
    const auto handle = listen(seen);
    quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::async({.name = "mine", .pool = &rt.default_pool().get()}, [] {}).get();
    rt.default_pool().get().wait_until_quiet();
    EXPECT_EQ(seen.started, 1);
    EXPECT_EQ(seen.stopped, 1);
}

}  // namespace
