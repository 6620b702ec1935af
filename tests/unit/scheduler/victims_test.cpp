// SPDX-License-Identifier: BSL-1.0
// The first victims of a thief, on machines of 1 to 8 NUMA nodes, and the size of its batches.
#include "../topology/invented_machine.hpp"
#include "held_pool.hpp"

#include <quern/scheduler/detail/placement.hpp>
#include <quern/topology/distance.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>

namespace {

using quern::detail::pool_description;
using quern::topology::machine;
using quern_test::held_pool;
using quern_test::journal;

/// Nodes of two cores in a ring: the distance grows along it.
machine ring_of_nodes(unsigned nodes) {
    machine on = fake::invent({nodes, 1, 1, 2, 1});
    on.numa_distances.assign(nodes, std::vector<std::uint64_t>(nodes));
    for (unsigned a = 0; a < nodes; ++a) {
        for (unsigned b = 0; b < nodes; ++b) {
            const unsigned apart = (a + nodes - b) % nodes;
            on.numa_distances[a][b] = 10 + 6 * std::min(apart, nodes - apart);
        }
    }
    return on;
}

pool_description pool_on(const machine& on) {
    quern::settings chosen;
    chosen.set("bind", {"compact", quern::setting_source::program, "here"});
    pool_description description;
    quern::detail::place_workers(description, on, {}, chosen);
    description.processing_units.clear();  // this computer has others
    return description;
}

std::uint64_t distance_between(const machine& on, int rank_a, int rank_b) {
    return on
        .numa_distances[static_cast<std::size_t>(rank_a / 2)][static_cast<std::size_t>(rank_b / 2)];
}

class victims_on_nodes : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(number, victims_on_nodes, testing::Range(1U, 9U));

// Holds: scheduling policies: A thief goes over the workers of its own node first, the nearest
//     first.
TEST_P(victims_on_nodes, stand_in_rings_from_the_own_node_outwards) {
    const machine on = ring_of_nodes(GetParam());
    const pool_description description = pool_on(on);
    ASSERT_EQ(description.workers, 2 * GetParam());
    for (std::uint32_t rank = 0; rank < description.workers; ++rank) {
        const auto& rings = description.victims[rank];
        EXPECT_EQ(rings.size(), 1 + GetParam() / 2);
        EXPECT_EQ(rings.front(), (std::vector<std::uint32_t>{rank ^ 1U}));
        std::uint64_t before = 0;
        std::size_t others = 0;
        for (const auto& ring : rings) {
            const std::uint64_t here =
                distance_between(on, static_cast<int>(rank), static_cast<int>(ring.front()));
            EXPECT_GT(here, before);
            for (const std::uint32_t other : ring) {
                EXPECT_EQ(distance_between(on, static_cast<int>(rank), static_cast<int>(other)),
                          here);
            }
            before = here;
            others += ring.size();
        }
        EXPECT_EQ(others, description.workers - 1);
    }
}

// Holds: scheduling policies: A thief goes over...
TEST_P(victims_on_nodes, are_stolen_from_on_the_own_node_first) {
    // Every worker is held and has two tasks ready; then one is released and runs them all.
    const machine on = ring_of_nodes(GetParam());
    for (const char* policy : {"work-stealing", "priority-local-fifo", "priority-local-lifo"}) {
        held_pool pool(pool_on(on), policy);
        pool.hold_all();
        std::mutex mutex;
        std::vector<int> owners;
        const int workers = static_cast<int>(pool.get().size());
        for (int rank = 0; rank < workers; ++rank) {
            pool.on_worker(static_cast<std::uint32_t>(rank), [&, rank] {
                for (int i = 0; i < 2; ++i) {
                    quern::post([&, rank] {
                        const std::scoped_lock lock(mutex);
                        owners.push_back(rank);
                    });
                }
            });
        }
        const int thief = workers - 1;
        pool.release(static_cast<std::uint32_t>(thief));
        EXPECT_TRUE(quern_test::eventually([&] {
            const std::scoped_lock lock(mutex);
            return owners.size() == static_cast<std::size_t>(2 * workers);
        }));
        const std::scoped_lock lock(mutex);
        EXPECT_EQ((std::vector(owners.begin(), owners.begin() + 4)),
                  (std::vector{thief, thief, thief - 1, thief - 1}));
        EXPECT_TRUE(std::is_sorted(owners.begin(), owners.end(), [&](int a, int b) {
            return distance_between(on, thief, a) < distance_between(on, thief, b);
        })) << policy;
    }
}

// Holds: scheduling policies: priority-local: all new tasks of a node before resumed ones.
TEST(victims_of_priority_local, give_all_new_tasks_of_a_node_before_resumed_ones) {
    // Rank 0 steals; 1 and 2 are of its node, each in a ring of its own; 3 is of another.
    pool_description description{.workers = 4, .nodes = {0, 0, 0, 1}};
    description.victims = {{{1}, {2}, {3}}, {{0, 2, 3}}, {{0, 1, 3}}, {{0, 1, 2}}};
    held_pool pool(description, "priority-local-fifo");
    journal log;
    quern_test::waiting_room rooms[3];
    for (int i = 0; i < 3; ++i) {
        quern::post({.pool = &pool.get()}, [&, i] {
            rooms[i].wait();
            log.note("resumed" + std::to_string(i + 1));
        });
        ASSERT_TRUE(quern_test::eventually([&] { return rooms[i].size() == 1; }));
    }
    pool.hold_all();
    for (int rank = 1; rank < 4; ++rank) {
        pool.on_worker(static_cast<std::uint32_t>(rank), [&, rank] {
            rooms[rank - 1].resume_all();
            quern::post([&, rank] { log.note("new" + std::to_string(rank)); });
        });
    }
    pool.release(0);
    EXPECT_TRUE(quern_test::eventually([&] { return log.size() == 6; }));
    EXPECT_EQ(log.text(), "new1 new2 resumed1 resumed2 new3 resumed3");
}

std::atomic<int> thefts{0};  // NOLINT: the hooks are plain functions

constexpr quern::detail::hooks k_count_thefts{
    .steals = [](const quern::detail::hooks&, quern::detail::worker&,
                 quern::detail::worker_shared&) { thefts.fetch_add(1); }};

struct stolen_tasks {
    std::string order;
    int thefts;
    std::uint64_t stolen;
};

/// The tasks that ran, in order, and their workers; a write takes a few ns.
struct quick_journal {
    explicit quick_journal(std::size_t n) : tasks(n), ranks(n) {}

    std::vector<int> tasks;
    std::vector<int> ranks;
    std::atomic<std::size_t> count{0};

    void note(int task) {
        const std::size_t at = count.load(std::memory_order_relaxed);  // one at a time
        tasks[at] = task;
        ranks[at] = quern::current_worker_rank();
        count.store(at + 1, std::memory_order_release);
    }
    std::string text() const {
        std::string all;
        for (const int each : tasks) {
            all += (all.empty() ? "" : " ") + std::to_string(each);
        }
        return all;
    }
};

/// How the worker of one node steals `tasks` tasks from that of another. Each task takes at least
/// the given time.
stolen_tasks steal_tasks(int tasks, const char* policy, unsigned batch,
                         std::chrono::microseconds at_least = std::chrono::microseconds(0)) {
    const auto count = static_cast<std::size_t>(tasks);
    held_pool pool({.workers = 2, .nodes = {0, 1}}, policy);
    quern::pool_ref(pool.get()).set_knob("steal-batch", batch);
    pool.hold_all();
    quick_journal log(count);
    pool.on_worker(0, [&] {
        for (int i = 0; i < tasks; ++i) {
            quern::post([&log, i, at_least] {
                log.note(i);
                if (at_least.count() != 0) {
                    const auto end = std::chrono::steady_clock::now() + at_least;
                    while (std::chrono::steady_clock::now() < end) {
                    }
                }
            });
        }
    });
    const std::uint64_t before = pool.get().totals().stolen;
    thefts.store(0);
    pool.get().set_hooks(&k_count_thefts);
    pool.release(1);
    EXPECT_TRUE(quern_test::eventually([&] { return log.count == count; }));
    EXPECT_EQ(log.ranks, std::vector<int>(count, 1));
    return {log.text(), thefts.load(), pool.get().totals().stolen - before};
}

/// For tasks that are not tiny.
void expect_batches(const char* policy, unsigned batch, const char* order, int expected_thefts) {
    const stolen_tasks got = steal_tasks(8, policy, batch, std::chrono::microseconds(20));
    EXPECT_EQ(got.order, order) << policy << " " << batch;
    EXPECT_EQ(got.thefts, expected_thefts) << policy << " " << batch;
    EXPECT_EQ(got.stolen, 8U) << policy << " " << batch;
}

// Holds: scheduling policies: A thief takes one task at a time and more of them when they are tiny,
//     or as many as steal_batch says.
TEST(steal_batch, is_one_task_unless_said_otherwise) {
    for (const char* policy : {"work-stealing", "priority-local-fifo", "priority-local-lifo"}) {
        for (const unsigned batch : {0U, 1U}) {
            expect_batches(policy, batch, "0 1 2 3 4 5 6 7", 8);
        }
    }
    expect_batches("sherwood", 1, "0 1 2 3 4 5 6 7", 8);
}

// Holds: scheduling policies: A thief takes one...
TEST(steal_batch, grows_while_tasks_are_tiny) {
    if (quern::detail::k_asan || quern::detail::k_tsan) {
        GTEST_SKIP() << "no task is tiny under a sanitizer";
    }
    for (const char* policy : {"work-stealing", "priority-local-fifo", "priority-local-lifo"}) {
        constexpr int k_tasks = 100;
        EXPECT_TRUE(quern_test::eventually([&] {  // if nothing slows the thief down
            const stolen_tasks got = steal_tasks(k_tasks, policy, 0);
            EXPECT_EQ(got.stolen, std::uint64_t{k_tasks}) << policy;
            return got.thefts < k_tasks;
        })) << policy;
    }
}

// Holds: scheduling policies: A thief takes one...
TEST(steal_batch, brings_so_many_of_the_oldest_to_the_thiefs_own_queue) {
    // The private entries are taken by halves: 4, 2, 1, 1.
    expect_batches("work-stealing", 4, "0 3 2 1 4 5 6 7", 4);
    expect_batches("priority-local-fifo", 4, "0 1 2 3 4 5 6 7", 2);
    expect_batches("priority-local-lifo", 4, "0 3 2 1 4 7 6 5", 2);
    expect_batches("sherwood", 4, "0 3 2 1 4 7 6 5", 2);
}

// Holds: scheduling policies: A thief takes one...
TEST(steal_batch, takes_no_more_than_there_are) {
    expect_batches("work-stealing", 100, "0 3 2 1 4 5 6 7", 4);
    expect_batches("priority-local-fifo", 100, "0 1 2 3 4 5 6 7", 1);
}

// Holds: scheduling policies: sherwood: half of what another node has; the workers of a node share
//     what is ready.
TEST(sherwood, takes_half_of_another_nodes_tasks_at_once) {
    expect_batches("sherwood", 0, "0 3 2 1 4 5 6 7", 4);
}

// Holds: scheduling policies: sherwood: half of what...
TEST(sherwood, lets_the_workers_of_a_node_share_what_is_ready) {
    held_pool pool({.workers = 3, .nodes = {0, 1, 1}}, "sherwood");
    pool.hold_all();
    journal log;
    quern_test::spin_gate second;
    pool.on_worker(0, [&] {
        for (int i = 0; i < 2; ++i) {
            quern::post([&log, i] { log.note(std::to_string(i)); });
        }
    });
    pool.on_worker(1, [&] {
        quern::post([&] {
            log.note("own");
            second.pass();
        });
    });
    pool.release(2);  // takes the task that worker 1 of its node has made, and stays in it
    EXPECT_TRUE(quern_test::eventually([&] { return log.size() == 1; }));
    EXPECT_EQ(log.ranks(), (std::vector{2}));
    pool.release(1);  // steals from node 0
    EXPECT_TRUE(quern_test::eventually([&] { return log.size() == 3; }));
    EXPECT_EQ(log.text(), "own 0 1");
    EXPECT_EQ(log.ranks(), (std::vector{2, 1, 1}));
    second.open();
    pool.release_all();
    pool.get().wait_until_quiet();
}

}  // namespace
