// SPDX-License-Identifier: BSL-1.0
// Overhead is counted alike everywhere: the time to make, queue, begin and settle a task counts as
// the runtime's work, with or without a recording, and never as time in bodies.
#include <quern/scheduler/detail/blocked_time.hpp>
#include <quern/task/async.hpp>
#include <quern/task/dataflow.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/task_group.hpp>

#include "on_runtime.hpp"

#include <functional>

namespace {

using quern::worker_totals;

class overhead_test : public testing::Test {
protected:
    /// How much running f as a task adds to the totals of the runtime.
    worker_totals spent_on(const std::function<void()>& f) {
        const worker_totals before = rt.totals();
        const double run_before = run_ns();
        quern::async(rt, f).get();
        worker_totals after = rt.totals();
        m_run_ns = run_ns() - run_before;
        after -= before;
        return after;
    }

    /// Relative to the CPU time of the worker's thread, which other threads may preempt.
    void expect_mostly_overhead(const worker_totals& of, int tasks) const {
        EXPECT_GT(of.managing_ns, 0.4 * m_run_ns);
        EXPECT_GT(of.managing_ns / tasks, 10.0);
        EXPECT_GT(of.making_ns, 0.0);
        EXPECT_LE(of.making_ns, of.managing_ns);
    }

    double run_ns() {
        return quern::detail::thread_run_ns(rt.default_pool().get().at(0).thread_id());
    }

    static constexpr int k_tasks = 100'000;
    double m_run_ns = 0;
    quern::runtime rt{quern::runtime_options::with_workers(1)};
};

// Holds: pool_ref: Making, beginning and settling tasks is managing time, on every thread and with
//     or without a recording; no body is.
TEST_F(overhead_test, is_nearly_all_of_empty_tasks_that_are_waited_for_at_once) {
    expect_mostly_overhead(spent_on([] {
                               for (int i = 0; i < k_tasks; ++i) {
                                   quern::async([] {}).get();
                               }
                           }),
                           k_tasks);
}

// Holds: pool_ref: Making, beginning and settling...
TEST_F(overhead_test, is_nearly_all_of_an_empty_group) {
    expect_mostly_overhead(spent_on([] {
                               quern::task_group group;
                               for (int i = 0; i < k_tasks; ++i) {
                                   group.run([] {});
                               }
                               group.wait();
                           }),
                           k_tasks);
}

// Holds: pool_ref: Making, beginning and settling...
TEST_F(overhead_test, is_nearly_all_of_empty_dataflow) {
    expect_mostly_overhead(spent_on([] {
                               quern::shared_future<void> last = quern::make_ready_future();
                               for (int i = 0; i < k_tasks; ++i) {
                                   last = quern::dataflow([](const auto&) {}, last).share();
                               }
                               last.wait();
                           }),
                           k_tasks);
}

// Holds: pool_ref: Making, beginning and settling...
TEST_F(overhead_test, is_no_part_of_long_bodies) {
    constexpr auto k_each = std::chrono::microseconds(quern_test::scaled(20, 500));
    constexpr int k_few = 200;
    const worker_totals of = spent_on([k_each] {
        quern::task_group group;
        for (int i = 0; i < k_few; ++i) {
            group.run([k_each] { quern_test::spin_for(k_each); });
        }
        group.wait();
    });
    EXPECT_GT(of.running_ns, 0.9 * k_few * 1e3 * static_cast<double>(k_each.count()));
    EXPECT_LT(of.managing_ns, 0.1 * of.running_ns);
}

/// Long tasks after many tiny ones, few of which are timed.
// Holds: pool_ref: Making, beginning and settling...
TEST_F(overhead_test, does_not_take_long_bodies_for_what_came_before) {
    const worker_totals of = spent_on([] {
        for (int i = 0; i < k_tasks; ++i) {
            quern::async([] {}).get();
        }
        for (int i = 0; i < 20; ++i) {
            quern::async([] { quern_test::spin_for(std::chrono::milliseconds(10)); }).get();
        }
    });
    EXPECT_GT(of.running_ns, 0.95 * 200e6);
}

}  // namespace
