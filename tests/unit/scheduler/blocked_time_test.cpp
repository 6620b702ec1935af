// SPDX-License-Identifier: BSL-1.0
// Blocked time: tasks that sleep in the kernel and occupy their worker. Compared with sleeps of a
// known length; computing and waiting for work do not count.
#include <quern/scheduler/detail/blocked_time.hpp>
#include <quern/task/async.hpp>
#include <quern/task/task_group.hpp>

#include "on_runtime.hpp"
#include "unit/topology/fake_tree.hpp"

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

using quern::detail::read_blocked_ns;
using quern_test::eventually;

class blocked_time_test : public testing::Test {
protected:
    double blocked_ns() {
        double sum = 0;
        for (unsigned rank = 0; rank < k_workers; ++rank) {
            const auto one = read_blocked_ns(rt.default_pool().get().at(rank));
            EXPECT_TRUE(one) << one.reason();
            sum += one ? *one : 0.0;
        }
        return sum;
    }

    static constexpr unsigned k_workers = 2;
    quern::runtime rt{quern::runtime_options::with_workers(k_workers)};
};

// Holds: counters: What a worker lost is taken out of the parts in which it was lost, and no part
//     becomes negative.
TEST(lost_time_parts, are_taken_out_where_they_were_lost) {
    using quern::detail::without_losses;
    const auto half = without_losses({60, 20, 20, 0}, {50, 10});
    EXPECT_DOUBLE_EQ(half.in_tasks_ns, 30);
    EXPECT_DOUBLE_EQ(half.managing_ns, 10);
    EXPECT_DOUBLE_EQ(half.idle_ns, 10);
    EXPECT_DOUBLE_EQ(half.lost_ns, 50);
    const auto more = without_losses({60, 20, 20, 0}, {500, 10});  // than there was
    EXPECT_DOUBLE_EQ(more.in_tasks_ns + more.managing_ns + more.idle_ns, 0);
    EXPECT_DOUBLE_EQ(more.lost_ns, 100);
    const auto idle = without_losses({0, 0, 100, 0}, {30, 40});  // an estimate above the sum
    EXPECT_DOUBLE_EQ(idle.idle_ns, 70);
    EXPECT_DOUBLE_EQ(idle.lost_ns, 30);
    const auto none = without_losses({60, 20, 20, 0}, {-1, 0});  // differences may be negative
    EXPECT_DOUBLE_EQ(none.lost_ns, 0);
    EXPECT_DOUBLE_EQ(none.in_tasks_ns, 60);
}

// Holds: counters: /threads/time/blocked is time in bodies while the worker's thread slept in the
//     kernel: neither computing nor waiting for work.
TEST_F(blocked_time_test, is_what_a_task_sleeps_in_the_kernel) {
    constexpr int k_tasks = 20;
    constexpr double k_ns = 5e6;
    double spent = 0;
    // On a machine with many other threads a worker waits for a processor after each wake-up.
    for (int attempt = 0; attempt < 20 && spent < 0.8 * k_tasks * k_ns; ++attempt) {
        const double before = blocked_ns();
        quern::async(rt, [] {
            quern::task_group group;
            for (int i = 0; i < k_tasks; ++i) {
                group.run([] { ::usleep(5'000); });
            }
            group.wait();
        }).get();
        spent = blocked_ns() - before;
    }
    EXPECT_GE(spent, 0.8 * k_tasks * k_ns);
    EXPECT_LE(spent, rt.totals().running_ns);
}

// Holds: counters: /threads/time/blocked is time in...
TEST_F(blocked_time_test, is_what_a_task_waits_for_a_foreign_lock) {
    std::mutex lock;
    double spent = 0;
    // As above: the wait for a processor after a wake-up is subtracted twice.
    for (int attempt = 0; attempt < 20 && spent <= 20e6; ++attempt) {
        const double before = blocked_ns();
        quern::async(rt, [&lock] {
            quern::task_group group;
            for (int i = 0; i < 10; ++i) {
                group.run([&lock] {
                    const std::scoped_lock held(lock);
                    quern_test::spin_for(std::chrono::milliseconds(10));
                });
            }
            group.wait();
        }).get();
        spent = blocked_ns() - before;
    }
    // While one task computes for 10 ms the other waits, except for the time of its scheduling.
    EXPECT_GT(spent, 20e6);
}

// Holds: counters: /threads/time/blocked is time in...
TEST_F(blocked_time_test, is_not_what_a_task_computes) {
    const double before = blocked_ns();
    quern::async(rt, [] { quern_test::spin_for(std::chrono::milliseconds(200)); }).get();
    EXPECT_LT(blocked_ns() - before, 20e6);
}

// Holds: counters: /threads/time/blocked is time in...
TEST_F(blocked_time_test, is_not_what_a_worker_waits_for_work) {
    const double before = blocked_ns();
    ::usleep(100'000);
    EXPECT_LT(blocked_ns() - before, 5e6);
}

// Holds: counters: /threads/time/lost is what the kernel counts for the worker's thread.
TEST_F(blocked_time_test, lost_time_is_the_kernels) {
    const quern::detail::worker_status& first = rt.default_pool().get().at(0);
    ASSERT_TRUE(eventually([&] { return first.thread_id() != 0; }));
    fake::tree tree;
    tree.file("/proc/self/task/" + std::to_string(first.thread_id()) + "/schedstat",
              "1000 6000000 4\n");
    const auto look = quern::detail::look_at_thread(first, tree.root());
    ASSERT_TRUE(look) << look.reason();
    EXPECT_EQ(look->waited_ns, 6e6);
    EXPECT_GT(look->ran_ns, 0);
    const auto other = quern::detail::look_at_thread(first, fake::tree().root());
    ASSERT_FALSE(other);
    EXPECT_NE(other.reason().find("schedstat"), std::string::npos);
}

// What a worker lost while it was awake is in proportion to what it did; the rest was lost after
// wake-ups.
TEST(lost_time_test, is_lost_where_the_thread_did_not_run) {
    using quern::detail::lost_in;
    const quern::worker_totals busy{.running_ns = 900, .managing_ns = 100};
    EXPECT_EQ(lost_in(busy, {600, 400}).all_ns, 600);
    EXPECT_EQ(lost_in(busy, {600, 400}).idle_ns, 0);
    const quern::worker_totals asleep{.running_ns = 400, .idle_ns = 600, .asleep_ns = 600};
    EXPECT_EQ(lost_in(asleep, {300, 400}).idle_ns, 300);  // it ran as long as it was awake
    EXPECT_EQ(lost_in(asleep, {300, 300}).idle_ns, 200);
    const quern::worker_totals searches{.running_ns = 400, .idle_ns = 600, .asleep_ns = 200};
    EXPECT_EQ(lost_in(searches, {400, 400}).idle_ns, 200);  // half of its time awake
    EXPECT_EQ(lost_in({}, {50, 0}).idle_ns, 50);
    EXPECT_EQ(lost_in(busy, {0, 1000}).all_ns, 0);
}

// Holds: counters: /threads/lost-rate is a part of the workers' time.
TEST_F(blocked_time_test, lost_time_grows_while_workers_wait_for_a_processor) {
    const auto lost = [&] {
        double sum = 0;
        for (unsigned rank = 0; rank < k_workers; ++rank) {
            const auto one = quern::detail::look_at_thread(rt.default_pool().get().at(rank));
            EXPECT_TRUE(one) << one.reason();
            sum += one ? one->waited_ns : 0.0;
        }
        return sum;
    };
    const double before = lost();
    std::atomic<bool> is_over{false};
    std::vector<std::thread> others;  // four for each processor
    for (unsigned i = 0; i < 4 * std::thread::hardware_concurrency(); ++i) {
        others.emplace_back([&] {
            while (!is_over) {
            }
        });
    }
    EXPECT_TRUE(eventually([&] {
        quern::async(rt, [] { quern_test::spin_for(std::chrono::milliseconds(20)); }).get();
        return lost() > before + 5e6;
    }));
    is_over = true;
    for (std::thread& each : others) {
        each.join();
    }
}

TEST_F(blocked_time_test, grows_while_a_task_still_sleeps) {
    const double before = blocked_ns();
    auto task = quern::async(rt, [] { ::usleep(1'000'000); });
    EXPECT_TRUE(eventually([&] { return blocked_ns() - before > 100e6; }));
    EXPECT_FALSE(task.is_ready());
    task.get();
}

}  // namespace
