// SPDX-License-Identifier: BSL-1.0
// Hints, under a policy without stealing: which worker a rank means, and which workers a NUMA node.
#include "held_pool.hpp"

#include <limits>

namespace {

using quern::task_attributes;
using quern_test::eventually;

/// The ranks that run tasks with these attributes, in the order in which they were made.
std::vector<int> ranks_of(quern::detail::pool_description description,
                          const std::vector<task_attributes>& wanted) {
    description.policy = &quern::find_scheduling_policy("static");
    quern::detail::pool pool(std::move(description));
    std::vector<int> ranks;
    for (task_attributes how : wanted) {
        how.pool = &pool;
        ranks.push_back(quern::async(how, [] { return quern::current_worker_rank(); }).get());
    }
    return ranks;
}

// Holds: task_attributes: worker: any number counts, modulo that of the workers.
TEST(worker_hints, count_modulo_the_number_of_workers) {
    EXPECT_EQ(ranks_of({.workers = 3}, {{.worker = 0},
                                        {.worker = 2},
                                        {.worker = 3},
                                        {.worker = 40'000},
                                        {.worker = std::numeric_limits<int>::max()}}),
              (std::vector{0, 2, 0, 1, 1}));
}

// Holds: task_attributes: numa_node: such tasks go to the workers of the node in turn.
TEST(numa_node_hints, bring_tasks_to_the_workers_of_the_node_in_turn) {
    EXPECT_EQ(ranks_of({.workers = 4, .nodes = {0, 1, 0, 1}}, {{.numa_node = 1},
                                                               {.numa_node = 1},
                                                               {.numa_node = 0},
                                                               {.numa_node = 1},
                                                               {.numa_node = 0}}),
              (std::vector{1, 3, 0, 1, 2}));
}

// Holds: task_attributes: numa_node: the system's numbers; a node where the pool has no worker
//     counts modulo those where it has.
TEST(numa_node_hints, mean_the_systems_numbers_and_count_modulo_where_the_pool_is_not) {
    EXPECT_EQ(ranks_of({.workers = 2, .nodes = {4, 7}},
                       {{.numa_node = 4}, {.numa_node = 7}, {.numa_node = 2}, {.numa_node = 3}}),
              (std::vector{0, 1, 0, 1}));
}

// Holds: task_attributes: numa_node: the worker's hint is the stronger.
TEST(numa_node_hints, yield_to_the_workers_hint) {
    EXPECT_EQ(ranks_of({.workers = 2, .nodes = {0, 1}}, {{.worker = 0, .numa_node = 1}}),
              (std::vector{0}));
}

// Holds: task_attributes: numa_node: says nothing in a pool of one node, or of workers that are not
//     bound.
TEST(numa_node_hints, say_nothing_in_a_pool_of_one_node_or_of_none) {
    for (const std::vector<unsigned>& nodes :
         {std::vector<unsigned>{}, std::vector<unsigned>{1, 1}}) {
        quern_test::held_pool pool({.workers = 2, .nodes = nodes}, "static");
        pool.hold_all();
        std::atomic<int> rank{-1};
        pool.on_worker(1, [&] {
            quern::post({.numa_node = 1}, [&] { rank.store(quern::current_worker_rank()); });
        });
        pool.release_all();
        EXPECT_TRUE(eventually([&] { return rank.load() != -1; }));
        EXPECT_EQ(rank.load(), 1);
    }
}

// Holds: task_attributes: numa_node: the system's numbers...
TEST(numa_node_hints, may_be_any_number) {
    const int ends[] = {std::numeric_limits<int>::max(), std::numeric_limits<int>::max() - 1,
                        std::numeric_limits<int>::min(), -2};
    for (const int number : ends) {
        EXPECT_EQ(ranks_of({.workers = 2, .nodes = {0, 1}}, {{.numa_node = number}}).size(), 1U);
    }
}

class hints_everywhere : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(hints_everywhere);

// Holds: scheduling policies: Under every policy hints lose no task of any priority.
TEST_P(hints_everywhere, lose_no_task_of_any_priority) {
    std::vector<unsigned> nodes;
    for (unsigned i = 0; i < workers(); ++i) {
        nodes.push_back(i / 2);
    }
    quern::detail::pool pool({.workers = workers(),
                              .nodes = nodes,
                              .policy = &quern::find_scheduling_policy(GetParam().policy)});
    std::atomic<int> run{0};
    for (int i = 0; i < 600; ++i) {
        quern::post(
            {.urgency = static_cast<quern::priority>(i % 3), .numa_node = i / 3 % 5, .pool = &pool},
            [&] { run.fetch_add(1); });
    }
    pool.wait_until_quiet();
    EXPECT_EQ(run.load(), 600);
}

}  // namespace
