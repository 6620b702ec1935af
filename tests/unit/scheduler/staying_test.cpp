// SPDX-License-Identifier: BSL-1.0
// Policies that do not steal: which workers get new tasks, that a task that has begun stays on its
// worker, and that other workers run the tasks of a throttled worker.
#include "held_pool.hpp"

#include <quern/task/fork_join.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/task_group.hpp>

namespace {

using quern::post;
using quern_test::eventually;
using quern_test::held_pool;
using quern_test::journal;

/// The workers that run eight tasks, made by the worker of rank 1 of four while all four are held.
std::vector<int> ranks_of_new_tasks(const char* policy) {
    held_pool pool({.workers = 4}, policy);
    pool.hold_all();
    std::vector<std::atomic<int>> rank(8);
    std::atomic<int> done{0};
    pool.on_worker(1, [&] {
        for (auto& r : rank) {
            post([&] {
                r.store(quern::current_worker_rank());
                done.fetch_add(1);
            });
        }
    });
    pool.release_all();
    EXPECT_TRUE(eventually([&] { return done.load() == 8; }));
    return {rank.begin(), rank.end()};
}

// Holds: scheduling policies: nemesis: new tasks go to all active workers in turn.
TEST(nemesis, deals_new_tasks_to_all_workers_in_turn) {
    EXPECT_EQ(ranks_of_new_tasks("nemesis"), (std::vector{2, 3, 0, 1, 2, 3, 0, 1}));
}

// Holds: scheduling policies: static: new tasks stay where they were made.
TEST(static_policy, keeps_new_tasks_where_they_were_made) {
    EXPECT_EQ(ranks_of_new_tasks("static"), std::vector<int>(8, 1));
}

// Holds: scheduling policies: nemesis: new tasks go...
TEST(nemesis, deals_to_active_workers_alone) {
    quern::runtime rt(quern::runtime_options::with_workers(8, "nemesis"));
    rt.default_pool().set_active_workers(2);
    const quern::task_attributes on_an_active_one{.worker = 0, .pool = &rt.default_pool().get()};
    auto ranks = quern::async(on_an_active_one, [] {
                     std::vector<quern::future<int>> all;
                     for (int i = 0; i < 16; ++i) {
                         all.push_back(quern::async([] { return quern::current_worker_rank(); }));
                     }
                     std::vector<int> found;
                     for (auto& f : all) {
                         found.push_back(f.get());
                     }
                     return found;
                 }).get();
    EXPECT_LT(*std::max_element(ranks.begin(), ranks.end()), 2);
}

class staying_test : public testing::TestWithParam<quern_test::setting> {
protected:
    quern::pool_ref pool() const { return rt.default_pool(); }
    unsigned workers() const { return GetParam().workers; }
    int last() const { return static_cast<int>(workers()) - 1; }

    template <class F>
    auto on(int rank, F&& f) {
        return quern::async({.worker = rank, .pool = &pool().get()}, std::forward<F>(f));
    }

    quern::runtime rt{quern::runtime_options::with_workers(GetParam().workers, GetParam().policy)};
};
INSTANTIATE_TEST_SUITE_P(
    on, staying_test,
    testing::Values(quern_test::setting{1, "nemesis"}, quern_test::setting{2, "nemesis"},
                    quern_test::setting{8, "nemesis"}, quern_test::setting{1, "static"},
                    quern_test::setting{2, "static"}, quern_test::setting{8, "static"}),
    quern_test::name_of_setting);

// Holds: scheduling policies: nemesis and static: a hinted task runs on its worker although others
//     are idle.
TEST_P(staying_test, runs_a_hinted_task_on_its_worker_although_others_are_idle) {
    for (int i = 0; i < 200; ++i) {
        const int rank = i % (last() + 1);
        EXPECT_EQ(on(rank, [] { return quern::current_worker_rank(); }).get(), rank);
    }
}

// Holds: scheduling policies: A task that has begun resumes where it began, the owner of a group
//     too.
TEST_P(staying_test, resumes_a_task_where_it_waited) {
    for (int rank = 0; rank <= last(); ++rank) {
        quern::promise<void> go;
        auto moved = on(rank, [f = go.get_future()]() mutable {
            const int before = quern::current_worker_rank();
            quern::this_task::yield();
            const int after_yield = quern::current_worker_rank();
            f.get();
            quern::this_task::sleep_for(std::chrono::microseconds(50));
            return std::vector{before, after_yield, quern::current_worker_rank()};
        });
        on((rank + 1) % (last() + 1), [&go] { go.set_value(); }).get();
        EXPECT_EQ(moved.get(), std::vector<int>(3, rank));
    }
}

// Holds: scheduling policies: A task that has...
TEST_P(staying_test, sends_the_owner_of_a_group_home_when_the_last_task_ends_elsewhere) {
    for (int rank = 0; rank <= last(); ++rank) {
        EXPECT_EQ(on(0,
                     [rank] {
                         quern::task_group group;
                         group.run({.worker = rank}, [] {});
                         group.wait();
                         return quern::current_worker_rank();
                     })
                      .get(),
                  0);
    }
}

// Holds: scheduling policies: fork_join stays on its worker.
TEST_P(staying_test, keeps_fork_join_on_its_worker) {
    std::vector<std::atomic<int>> runs(workers());
    on(last(), [&] {
        const auto tree = [&](auto& self, int depth) -> void {
            if (depth == 0) {
                runs[static_cast<std::size_t>(quern::current_worker_rank())].fetch_add(1);
                return;
            }
            quern::fork_join([&] { self(self, depth - 1); }, [&] { self(self, depth - 1); });
        };
        tree(tree, 10);
    }).get();
    EXPECT_EQ(runs.back().load(), 1 << 10);
}

// Holds: scheduling policies: When workers are throttled the active ones run what the others hold.
TEST_P(staying_test, gives_what_a_throttled_worker_holds_to_the_others) {
    std::atomic<int> run{0};
    on(last(), [&] {
        for (int i = 0; i < 100; ++i) {
            post({.worker = last()}, [&] { run.fetch_add(1); });
        }
        pool().set_active_workers(1);
    }).get();
    EXPECT_TRUE(eventually([&] { return run.load() == 100; }));
    on(last(), [&] { run.fetch_add(1); }).get();  // later items too
    EXPECT_EQ(run.load(), 101);
}

// Holds: scheduling policies: When workers are throttled...
TEST_P(staying_test, gives_a_throttled_workers_forked_children_to_the_others) {
    // The first of the two waits for the other, which stays among the stealable contexts of a
    // worker that is not active any more.
    on(last(), [&] {
        quern::promise<void> first, second;
        auto first_ran = first.get_future();
        auto second_ran = second.get_future();
        pool().set_active_workers(1);
        quern::fork_join(
            [&] {
                first.set_value();
                second_ran.get();
            },
            [&] {
                second.set_value();
                first_ran.get();
            });
    }).get();
}

// Holds: scheduling policies: When workers are throttled...
TEST_P(staying_test, loses_nothing_while_the_number_of_active_workers_changes) {
    constexpr int k_tasks = quern_test::scaled(20'000, 2'000);
    std::atomic<int> run{0};
    for (int i = 0; i < k_tasks; ++i) {
        post({.worker = i, .pool = &pool().get()}, [&] {
            run.fetch_add(1);
            quern::this_task::yield();
            run.fetch_add(1);
        });
        if (i % 16 == 0) {
            pool().set_active_workers(1 + static_cast<unsigned>(i / 16) % workers());
        }
    }
    EXPECT_TRUE(eventually([&] { return run.load() == 2 * k_tasks; }, std::chrono::seconds(60)));
}

// Holds: scheduling policies: Workers that have nothing to do sleep.
TEST_P(staying_test, lets_workers_sleep_that_have_nothing_to_do) {
    // Other workers' queues are no reason to stay awake: one worker is busy with a long queue.
    quern_test::spin_gate go;
    std::atomic<int> run{0};
    auto holder = on(0, [&] { go.pass(); });
    for (int i = 0; i < 100; ++i) {
        post({.worker = 0, .pool = &pool().get()}, [&] { run.fetch_add(1); });
    }
    EXPECT_TRUE(eventually(
        [&] { return pool().get().gate().load().sleeping == static_cast<unsigned>(last()); }));
    EXPECT_EQ(run.load(), 0);
    go.open();
    EXPECT_TRUE(eventually([&] { return run.load() == 100; }));
}

}  // namespace
