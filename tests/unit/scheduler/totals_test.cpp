// SPDX-License-Identifier: BSL-1.0
// The workers' totals: times that add up to the wall time, and exact numbers of tasks.
#include <quern/task/fork_join.hpp>
#include <quern/task/scope.hpp>
#include <quern/task/task_group.hpp>

#include "on_runtime.hpp"

#include <cstdint>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;
using quern::worker_totals;
using quern_test::eventually;

class totals_test : public quern_test::on_runtime {
protected:
    struct reading {
        clock_type::time_point before, after;
        worker_totals totals;
    };
    reading read(unsigned rank) const {
        reading r;
        r.before = clock_type::now();
        r.totals = rt.default_pool().worker(rank);
        r.after = clock_type::now();
        return r;
    }
    static double ns(clock_type::duration d) {
        return std::chrono::duration<double, std::nano>(d).count();
    }
    std::vector<reading> read_all() const {
        std::vector<reading> all;
        for (unsigned rank = 0; rank < workers(); ++rank) {
            all.push_back(read(rank));
        }
        return all;
    }

    bool becomes(std::uint64_t tasks) const {
        return eventually([&] { return rt.totals().tasks == tasks; });
    }
};
QUERN_ON_ALL_POLICIES(totals_test);

// Holds: pool_ref: totals() account for all time of each worker, as running, managing or idle.
TEST_P(totals_test, account_for_all_time_of_each_worker) {
    // A worker has begun once it shows time.
    ASSERT_TRUE(eventually([&] {
        for (const reading& r : read_all()) {
            if (r.totals.total_ns() == 0) {
                return false;
            }
        }
        return true;
    }));
    const auto first = read_all();
    for (int i = 0; i < 20; ++i) {
        inside([] { quern_test::spin_for(std::chrono::milliseconds(1)); });
        std::this_thread::sleep_for(std::chrono::milliseconds(4));
    }
    const auto last = read_all();
    for (unsigned rank = 0; rank < workers(); ++rank) {
        const double spent = last[rank].totals.total_ns() - first[rank].totals.total_ns();
        const double least = ns(last[rank].before - first[rank].after);
        const double most = ns(last[rank].after - first[rank].before);
        EXPECT_GE(spent, 0.99 * least) << "rank " << rank;
        EXPECT_LE(spent, 1.01 * most) << "rank " << rank;
    }
}

// Holds: pool_ref: totals() never go back.
TEST_P(totals_test, never_go_back) {
    worker_totals before = rt.totals();
    std::vector<quern::future<void>> all;
    for (int i = 0; i < 1000; ++i) {
        all.push_back(quern::async(rt, [] {}));
        const worker_totals now = rt.totals();
        // A reading may miss a change while the worker's store is in flight: less than a
        // microsecond, unless a virtual machine stops the worker just then.
        const double slack_ns = 20'000 * workers();
        ASSERT_GE(now.running_ns + slack_ns, before.running_ns);
        ASSERT_GE(now.managing_ns + slack_ns, before.managing_ns);
        ASSERT_GE(now.idle_ns + slack_ns, before.idle_ns);
        ASSERT_GE(now.tasks, before.tasks);
        before = now;
    }
    for (auto& f : all) {
        f.get();
    }
}

// Holds: pool_ref: totals() account for all...
TEST_P(totals_test, count_the_time_in_task_bodies_as_running) {
    const double before = rt.totals().running_ns;
    inside([] { quern_test::spin_for(std::chrono::milliseconds(20)); });
    EXPECT_TRUE(eventually([&] { return rt.totals().running_ns - before >= 19.9e6; }));
}

// Holds: pool_ref: totals() account for all...
TEST_P(totals_test, count_waiting_for_work_as_idle) {
    rt.default_pool().get().wait_until_quiet();  // all have started
    const worker_totals before = rt.totals();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const worker_totals after = rt.totals();
    EXPECT_EQ(after.running_ns, before.running_ns);
    EXPECT_GE(after.idle_ns - before.idle_ns, 0.9 * workers() * 50e6);
}

// Holds: pool_ref: A suspended task does not count as running.
TEST_P(totals_test, count_a_suspended_task_as_not_running) {
    const double before = rt.totals().running_ns;
    quern_test::waiting_room room;
    auto task = quern::async(rt, [&] { room.wait(); });
    ASSERT_TRUE(eventually([&] { return room.size() == 1; }));
    rt.default_pool().get().wait_until_quiet();
    const double until_quiet = rt.totals().running_ns;
    EXPECT_GE(until_quiet, before);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(rt.totals().running_ns, until_quiet);
    room.resume_all();
    task.get();
}

// Holds: pool_ref: totals() count tasks exactly, each once however often it suspends, and forks
//     only when stolen.
TEST_P(totals_test, count_tasks_exactly) {
    constexpr int k_tasks = 1'000;
    for (int i = 0; i < k_tasks; ++i) {
        quern::post({.pool = &rt.default_pool().get()}, [] {});
    }
    EXPECT_TRUE(becomes(k_tasks)) << rt.totals().tasks;
    inside([] {
        std::vector<quern::future<void>> all;
        for (int i = 0; i < k_tasks; ++i) {
            all.push_back(quern::async([] {}));
        }
        for (auto& f : all) {
            f.get();
        }
    });
    EXPECT_TRUE(becomes(2 * k_tasks + 1)) << rt.totals().tasks;
    inside([] {
        quern::task_group group;
        for (int i = 0; i < k_tasks; ++i) {
            group.run([] {});
        }
        group.wait();
    });
    EXPECT_TRUE(becomes(3 * k_tasks + 2)) << rt.totals().tasks;
}

TEST_P(totals_test, count_what_a_waiter_runs_in_its_place_and_leave_no_entry_of_it) {
    if (workers() != 1) {
        GTEST_SKIP() << "another worker may be faster, or get the task (nemesis)";
    }
    constexpr int k_tasks = 500;
    inside([] {
        for (int i = 0; i < k_tasks; ++i) {
            EXPECT_EQ(quern::async([i] { return i; }).get(), i);
        }
    });
    ASSERT_TRUE(becomes(k_tasks + 1)) << rt.totals().tasks;
    EXPECT_EQ(rt.totals().inlined, std::uint64_t{k_tasks});
    EXPECT_EQ(rt.totals().activations, std::uint64_t{k_tasks + 1});
    EXPECT_FALSE(rt.default_pool().get().at(0).has_public_work());
}

// Holds: pool_ref: totals() count tasks exactly...
TEST_P(totals_test, count_tasks_that_suspend_once_each) {
    constexpr int k_tasks = 500;
    for (int i = 0; i < k_tasks; ++i) {
        quern::post({.pool = &rt.default_pool().get()}, [] { quern_test::let_others_run(); });
    }
    EXPECT_TRUE(becomes(k_tasks)) << rt.totals().tasks;
    rt.default_pool().get().wait_until_quiet();
    EXPECT_EQ(rt.totals().suspensions, std::uint64_t{k_tasks});
    EXPECT_EQ(rt.totals().activations, std::uint64_t{2 * k_tasks});
}

// Holds: pool_ref: totals() count tasks exactly...
TEST_P(totals_test, count_a_fork_only_when_it_was_stolen) {
    inside([] {
        for (int i = 0; i < 100; ++i) {
            quern::fork_join([] {}, [] {});
        }
    });
    EXPECT_TRUE(eventually([&] { return rt.totals().tasks >= 1; }));
    EXPECT_LE(rt.totals().tasks, 1 + rt.totals().stolen);
}

// Holds: pool_ref: totals() count scopes and stolen forks.
TEST_P(totals_test, count_scopes) {
    inside([] {
        for (int i = 0; i < 10; ++i) {
            quern::scope([](quern::fork_scope& s) {
                for (int child = 0; child < 5; ++child) {
                    s.spawn([] {});
                }
            });
        }
    });
    const worker_totals all = rt.totals();
    EXPECT_EQ(all.scopes, 10U);
    EXPECT_LE(all.stolen_forks, all.stolen);
    EXPECT_LE(all.stolen_forks, all.tasks);
    EXPECT_EQ(all.loops, 0U);
}

// Holds: pool_ref: totals() are those of...
TEST_P(totals_test, of_the_pool_are_the_sum_of_its_workers) {
    inside([] { quern_test::let_others_run(); });
    ASSERT_TRUE(becomes(1));
    rt.default_pool().get().wait_until_quiet();  // all have started, each on a context of its own
    worker_totals sum;
    for (unsigned rank = 0; rank < workers(); ++rank) {
        sum += rt.default_pool().worker(rank);
    }
    const worker_totals all = rt.totals();
    EXPECT_EQ(sum.tasks, all.tasks);
    EXPECT_EQ(sum.suspensions, all.suspensions);
    EXPECT_EQ(sum.contexts_made, all.contexts_made);
    EXPECT_LE(sum.total_ns(), all.total_ns());
}

TEST_P(totals_test, count_sleep) {
    EXPECT_TRUE(eventually([&] { return rt.totals().parks >= workers(); }));
}

TEST_P(totals_test, show_that_stacks_are_used_again) {
    inside([] {
        for (int i = 0; i < 1000; ++i) {
            quern_test::let_others_run();
        }
    });
    const worker_totals all = rt.totals();
    EXPECT_GE(all.contexts_recycled, 900U);
    EXPECT_LE(all.contexts_made, 2U * workers() + 2);
}

TEST(totals_between_test, parts_are_never_more_than_the_whole) {
    worker_totals earlier;
    earlier.managing_ns = 3;
    earlier.idle_ns = 10;
    earlier.asleep_ns = 4;
    worker_totals now;
    now.managing_ns = 6;
    now.making_ns = 5;  // an estimate of more than the time there was
    now.idle_ns = 12;
    now.asleep_ns = 8;
    now -= earlier;
    EXPECT_EQ(now.managing_ns, 3);
    EXPECT_EQ(now.making_ns, 3);
    EXPECT_EQ(now.idle_ns, 2);
    EXPECT_EQ(now.asleep_ns, 2);
}

}  // namespace
