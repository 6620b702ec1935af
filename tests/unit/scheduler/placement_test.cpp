// SPDX-License-Identifier: BSL-1.0
// Pools by CPU, core and NUMA node: how many workers, where they run, their node, and the error for
// a place that does not exist. On synthetic machines, and on this one.
#include <quern/scheduler/detail/placement.hpp>

#include "../topology/invented_machine.hpp"
#include "on_runtime.hpp"

#include <quern/topology/binding.hpp>

namespace {

using quern::setting_source;
using quern::detail::pool_description;
using quern::detail::usable_nodes;
using quern::topology::cpu_limits;
using quern::topology::machine;

/// Two nodes of four cores of two units: node 1 is cores 4-7, units 8-15.
machine two_nodes() { return fake::invent({2, 1, 1, 4, 2}); }

pool_description place(const machine& on, const char* bind, const char* threads = "auto",
                       const cpu_limits& limits = {}) {
    quern::settings chosen;
    chosen.set("bind", {bind, setting_source::program, "here"});
    chosen.set("threads", {threads, setting_source::program, "here"});
    pool_description description;
    quern::detail::place_workers(description, on, limits, chosen);
    return description;
}

std::string error_of(const machine& on, const char* bind, const cpu_limits& limits = {}) {
    try {
        (void)place(on, bind, "auto", limits);
    } catch (const std::invalid_argument& e) {
        return e.what();
    }
    return "";
}

// Holds: runtime: A pool may be bound to a list of CPUs, cores or NUMA nodes, and gets a worker for
//     each CPU unless it asks for another number.
TEST(placement, gives_a_pool_a_worker_for_each_cpu_of_its_list) {
    const pool_description listed = place(two_nodes(), "1,8-10");
    EXPECT_EQ(listed.workers, 4U);
    EXPECT_EQ(listed.processing_units, (std::vector{1, 8, 9, 10}));
    EXPECT_EQ(listed.nodes, (std::vector{0U, 1U, 1U, 1U}));
    EXPECT_EQ(place(two_nodes(), "3,3,3").workers, 1U);
}

// Holds: runtime: A pool may be...
TEST(placement, gives_a_pool_a_worker_for_each_cpu_of_its_cores_or_nodes) {
    const pool_description cores = place(two_nodes(), "cores:3-4");
    EXPECT_EQ(cores.processing_units, (std::vector{6, 7, 8, 9}));
    EXPECT_EQ(cores.nodes, (std::vector{0U, 0U, 1U, 1U}));
    const pool_description node = place(two_nodes(), "node:1");
    EXPECT_EQ(node.workers, 8U);
    EXPECT_EQ(node.processing_units.front(), 8);
    EXPECT_EQ(node.nodes, std::vector<unsigned>(8, 1));
}

// Holds: runtime: A pool may be...
TEST(placement, binds_fewer_or_more_workers_within_the_set) {
    EXPECT_EQ(place(two_nodes(), "node:1", "2").processing_units, (std::vector{8, 12}));
    EXPECT_EQ(place(two_nodes(), "cores:7", "3").processing_units, (std::vector{14, 15, 14}));
}

// Holds: runtime: A bound pool has no more workers than may run at once, and they are on allowed
//     CPUs alone.
TEST(placement, gives_no_more_workers_than_may_run_at_once) {
    cpu_limits limits;
    limits.quota = quern::topology::cpu_quota{300'000, 100'000, "cpu.max"};
    EXPECT_EQ(place(two_nodes(), "node:1", "auto", limits).workers, 3U);
    EXPECT_EQ(place(two_nodes(), "node:1", "8", limits).workers, 8U);
    EXPECT_EQ(place(two_nodes(), "2", "auto", limits).workers, 1U);
}

// Holds: runtime: A bound pool has...
TEST(placement, uses_only_the_allowed_cpus_of_a_set) {
    cpu_limits limits;
    limits.affinity = quern::topology::cpu_list{0, 1, 8, 10};
    EXPECT_EQ(place(two_nodes(), "node:1", "auto", limits).processing_units, (std::vector{8, 10}));
}

// Holds: pool_ref: numa_node_of(): the node of...
TEST(placement, without_binding_knows_of_no_nodes) {
    const pool_description loose = place(two_nodes(), "none", "3");
    EXPECT_EQ(loose.workers, 3U);
    EXPECT_TRUE(loose.processing_units.empty());
    EXPECT_TRUE(loose.nodes.empty());
    EXPECT_TRUE(loose.victims.empty());
    EXPECT_EQ(place(two_nodes(), "none").workers, 16U);
}

// Holds: runtime: A place that does not exist is an error that says what there is.
TEST(placement, says_what_there_is_when_a_place_does_not_exist) {
    EXPECT_EQ(error_of(two_nodes(), "node:2"),
              "quern: bind is 'node:2' (here); binding node:2 names NUMA node 2, which the machine "
              "does not have; it has NUMA nodes 0-1");
    EXPECT_EQ(
        error_of(two_nodes(), "cores:6-9"),
        "quern: bind is 'cores:6-9' (here); binding cores:6-9 names core 8, which the machine "
        "does not have; it has cores 0-7");
    EXPECT_EQ(error_of(two_nodes(), "node:"),
              "quern: bind is 'node:' (here); binding \"node:\" names nothing; a list such as "
              "node:0-3 is accepted");
    cpu_limits limits;
    limits.affinity = quern::topology::cpu_list{0, 1};
    EXPECT_EQ(
        error_of(two_nodes(), "node:1", limits),
        "quern: bind is 'node:1' (here); binding node:1 has no CPU that this process may use; "
        "allowed: 0-1");
}

TEST(placement, finds_the_nodes_that_may_be_used) {
    EXPECT_EQ(usable_nodes(two_nodes(), {}), (std::vector{0U, 1U}));
    cpu_limits limits;
    limits.affinity = quern::topology::cpu_list{9};
    EXPECT_EQ(usable_nodes(two_nodes(), limits), (std::vector{1U}));
}

// Holds: runtime: per_numa_node(): a pool for each node on which the process may run, bound there.
// Holds: pool_ref: numa_node_of(): the node of a worker that is bound, otherwise nothing;
//     std::out_of_range for a rank that there is not.
TEST(a_pool_for_each_numa_node, runs_its_workers_on_that_node) {
    const quern::runtime_options options = quern::runtime_options::per_numa_node();
    ASSERT_FALSE(options.pools.empty());
    const quern::runtime rt(options);
    for (const quern::pool_options& wanted : options.pools) {
        const quern::pool_ref pool = rt.pool(wanted.name);
        auto seen = quern::async(pool, [] {
            return std::pair(std::string(quern::current_pool().name()),
                             quern::topology::this_thread_affinity()->size());
        });
        EXPECT_EQ(seen.get(), std::pair(wanted.name, std::size_t{1}));
        for (unsigned rank = 0; rank < pool.workers(); ++rank) {
            EXPECT_EQ("node" + std::to_string(*pool.numa_node_of(rank)), wanted.name);
        }
        EXPECT_THROW((void)pool.numa_node_of(pool.workers()), std::out_of_range);
    }
}

// Holds: runtime: Pools may share CPUs.
TEST(pools, may_share_cpus) {
    const unsigned cpu = quern::topology::this_thread_affinity()->front();
    quern::runtime_options options;
    for (const char* name : {"one", "two"}) {
        options.pools.push_back({.name = name, .binding = std::to_string(cpu)});
    }
    options.pools.erase(options.pools.begin());
    const quern::runtime rt(options);
    EXPECT_EQ(rt.workers(), 1U);
    auto there = quern::async(
        rt.pool("two"), [&rt] { return quern::async(rt.pool("one"), [] { return 1; }).get() + 1; });
    EXPECT_EQ(there.get(), 2);
}

}  // namespace
