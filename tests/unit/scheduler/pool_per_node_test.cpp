// SPDX-License-Identifier: BSL-1.0
// Pools on synthetic machines of several NUMA nodes, seen by a whole process. Each case is a child,
// because a process reads its machine once.
#include <quern/scheduler/policy.hpp>
#include <quern/task/async.hpp>
#include <quern/topology/machine.hpp>

#include "in_child.hpp"

#include <gtest/gtest.h>

namespace {

class on_four_nodes : public testing::Test {
protected:
    void SetUp() override {
        if (quern::topology::hwloc_version().empty()) {
            GTEST_SKIP() << "needs hwloc to invent a machine for a whole process";
        }
    }

    /// The output of the function on a machine whose nodes 0 to 3 have two cores each.
    template <class F>
    static std::string output_of(std::vector<std::string> arguments, F&& f) {
        return quern_test::in_child(
                   {.variables = {{"HWLOC_SYNTHETIC", "pack:4 [numa] core:2 pu:1"}},
                    .arguments = std::move(arguments)},
                   [&f](int& argc, char** argv) {
                       (void)quern::take_command_line(argc, argv);
                       f();
                       return 0;
                   })
            .output;
    }
};

// Holds: runtime: per_numa_node(): a pool for...
TEST_F(on_four_nodes, each_node_gets_a_pool) {
    EXPECT_EQ(output_of({},
                        [] {
                            const quern::runtime rt(quern::runtime_options::per_numa_node());
                            for (const char* name : {"node0", "node1", "node2", "node3"}) {
                                const quern::pool_ref pool = rt.pool(name);
                                quern::async(pool, [] {}).get();
                                std::printf("%s %u %u;", name, pool.workers(),
                                            *pool.numa_node_of(0));
                            }
                        }),
              "node0 2 0;node1 2 1;node2 2 2;node3 2 3;");
}

// Holds: runtime: per_numa_node(): a pool for...
TEST_F(on_four_nodes, the_user_may_choose_nodes) {
    const auto show = [] {
        const quern::runtime rt;
        for (unsigned rank = 0; rank < rt.workers(); ++rank) {
            std::printf("%u ", *rt.default_pool().numa_node_of(rank));
        }
    };
    EXPECT_EQ(output_of({"--quern:bind=node:1,3"}, show), "1 1 3 3 ");
    EXPECT_EQ(output_of({"--quern:bind=node:1,3", "--quern:threads=2"}, show), "1 3 ");
    EXPECT_EQ(output_of({"--quern:bind=cores:3-4"}, show), "1 2 ");
    EXPECT_EQ(output_of({"--quern:bind=node:4"}, show),
              "quern: bind is 'node:4' (command line); binding node:4 names NUMA node 4, which the "
              "machine does not have; it has NUMA nodes 0-3");
}

TEST_F(on_four_nodes, every_policy_runs_what_is_hinted_to_any_node) {
    for (const quern::scheduling_policy& policy : quern::scheduling_policies()) {
        const std::string option = "--quern:policy=" + std::string(policy.name);
        EXPECT_EQ(output_of({option, "--quern:bind=compact"},
                            [] {
                                const quern::runtime rt;
                                quern::detail::pool* const pool = &rt.default_pool().get();
                                int sum = 0;
                                std::vector<quern::future<int>> all;
                                for (int i = 0; i < 400; ++i) {
                                    all.push_back(quern::async({.numa_node = i % 4, .pool = pool},
                                                               [] { return 1; }));
                                }
                                for (auto& f : all) {
                                    sum += f.get();
                                }
                                std::printf("%u %d", rt.workers(), sum);
                            }),
                  "8 400")
            << policy.name;
    }
}

}  // namespace
