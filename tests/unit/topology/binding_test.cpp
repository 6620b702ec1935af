// SPDX-License-Identifier: BSL-1.0
// The exact place of each worker under each binding policy, on machines of 1, 2, 4 and 8 NUMA
// nodes, with and without SMT; and the properties that every assignment must have.
#include "invented_machine.hpp"

#include <quern/topology/binding.hpp>

#include <algorithm>
#include <set>
#include <thread>

namespace {

using quern::topology::allowed_pus;
using quern::topology::assign;
using quern::topology::bind_this_thread;
using quern::topology::binding;
using quern::topology::binding_policy;
using quern::topology::cpu_limits;
using quern::topology::cpu_list;
using quern::topology::k_named_policies;
using quern::topology::k_none;
using quern::topology::machine;
using quern::topology::parse_binding;
using quern::topology::pus_within;
using quern::topology::this_thread_affinity;

using pus = std::vector<unsigned>;

pus placed(const machine& on, binding_policy policy, unsigned workers) {
    const auto assigned = assign(on, on.all_pus(), {policy, {}}, workers);
    EXPECT_TRUE(assigned) << assigned.reason();
    return assigned ? *assigned : pus{};
}

// Two nodes, four cores each, one unit per core: 0-3 | 4-7.
const fake::shape k_two_nodes{2, 1, 1, 4, 1};
// The same with SMT: core c has units 2c and 2c+1; 0-7 | 8-15.
const fake::shape k_two_nodes_smt{2, 1, 1, 4, 2};

TEST(compact, fills_a_core_before_the_next) {
    EXPECT_EQ(placed(fake::invent(k_two_nodes_smt), binding_policy::compact, 6),
              (pus{0, 1, 2, 3, 4, 5}));
    const machine pc = fake::invent({1, 1, 1, 4, 2, fake::numbering::first_threads_first});
    EXPECT_EQ(placed(pc, binding_policy::compact, 8), (pus{0, 4, 1, 5, 2, 6, 3, 7}));
}

TEST(scatter, alternates_packages_and_uses_all_cores_before_siblings) {
    EXPECT_EQ(placed(fake::invent(k_two_nodes), binding_policy::scatter, 8),
              (pus{0, 4, 1, 5, 2, 6, 3, 7}));
    EXPECT_EQ(placed(fake::invent(k_two_nodes_smt), binding_policy::scatter, 16),
              (pus{0, 8, 2, 10, 4, 12, 6, 14, 1, 9, 3, 11, 5, 13, 7, 15}));
}

TEST(scatter, alternates_nodes_within_a_package_and_caches_within_a_node) {
    // 2 packages, 2 nodes each, 2 L3 each, 1 core each: units 0-7 in order.
    EXPECT_EQ(placed(fake::invent({2, 2, 2, 1, 1}), binding_policy::scatter, 8),
              (pus{0, 4, 2, 6, 1, 5, 3, 7}));
}

TEST(scatter, goes_to_the_next_cache_before_the_next_core) {
    EXPECT_EQ(placed(fake::invent({1, 1, 2, 2, 1}), binding_policy::scatter, 4), (pus{0, 2, 1, 3}));
}

TEST(balanced, spreads_over_cores_and_keeps_neighbours_near) {
    const machine plain = fake::invent(k_two_nodes);
    EXPECT_EQ(placed(plain, binding_policy::balanced, 1), (pus{0}));
    EXPECT_EQ(placed(plain, binding_policy::balanced, 2), (pus{0, 4}));
    EXPECT_EQ(placed(plain, binding_policy::balanced, 3), (pus{0, 2, 5}));
    EXPECT_EQ(placed(plain, binding_policy::balanced, 4), (pus{0, 2, 4, 6}));
    EXPECT_EQ(placed(plain, binding_policy::balanced, 8), (pus{0, 1, 2, 3, 4, 5, 6, 7}));
    const machine smt = fake::invent(k_two_nodes_smt);
    EXPECT_EQ(placed(smt, binding_policy::balanced, 8), (pus{0, 2, 4, 6, 8, 10, 12, 14}));
    EXPECT_EQ(placed(smt, binding_policy::balanced, 10), (pus{0, 1, 2, 4, 6, 8, 9, 10, 12, 14}));
    EXPECT_EQ(placed(smt, binding_policy::balanced, 16), placed(smt, binding_policy::compact, 16));
}

TEST(balanced, never_gives_a_core_more_workers_than_it_has_allowed_units) {
    const machine smt = fake::invent(k_two_nodes_smt);
    const auto assigned = assign(smt, pus{0, 2, 3, 4, 5}, {binding_policy::balanced, {}}, 4);
    ASSERT_TRUE(assigned);
    EXPECT_EQ(*assigned, (pus{0, 2, 3, 4}));
}

TEST(numa_balanced, gives_nodes_equal_numbers) {
    const machine plain = fake::invent(k_two_nodes);
    EXPECT_EQ(placed(plain, binding_policy::numa_balanced, 2), (pus{0, 4}));
    EXPECT_EQ(placed(plain, binding_policy::numa_balanced, 3), (pus{0, 2, 4}));
    EXPECT_EQ(placed(plain, binding_policy::numa_balanced, 5), (pus{0, 1, 2, 4, 6}));
    EXPECT_EQ(placed(fake::invent(k_two_nodes_smt), binding_policy::numa_balanced, 6),
              (pus{0, 2, 4, 8, 10, 12}));
}

TEST(numa_balanced, gives_a_small_node_as_much_as_a_large_one_until_it_is_full) {
    const machine plain = fake::invent(k_two_nodes);
    const pus allowed{0, 1, 2, 3, 4};  // four units of node 0, one of node 1
    EXPECT_EQ(*assign(plain, allowed, {binding_policy::numa_balanced, {}}, 2), (pus{0, 4}));
    EXPECT_EQ(*assign(plain, allowed, {binding_policy::numa_balanced, {}}, 4), (pus{0, 1, 2, 4}));
    EXPECT_EQ(*assign(plain, allowed, {binding_policy::balanced, {}}, 2), (pus{0, 2}));
}

TEST(every_policy, is_exact_on_eight_nodes) {
    const machine big = fake::invent({8, 1, 1, 2, 2});  // node n: cores 2n, 2n+1; units 4n … 4n+3
    EXPECT_EQ(placed(big, binding_policy::compact, 5), (pus{0, 1, 2, 3, 4}));
    EXPECT_EQ(placed(big, binding_policy::scatter, 10), (pus{0, 4, 8, 12, 16, 20, 24, 28, 2, 6}));
    EXPECT_EQ(placed(big, binding_policy::balanced, 4), (pus{0, 8, 16, 24}));
    EXPECT_EQ(placed(big, binding_policy::numa_balanced, 9), (pus{0, 2, 4, 8, 12, 16, 20, 24, 28}));
    EXPECT_EQ(placed(big, binding_policy::none, 3), (pus{k_none, k_none, k_none}));
}

TEST(every_policy, uses_each_unit_once_before_it_starts_again) {
    for (const unsigned nodes : {1u, 2u, 4u, 8u}) {
        for (const unsigned smt : {1u, 2u}) {
            for (const auto numbers :
                 {fake::numbering::along_the_hierarchy, fake::numbering::first_threads_first}) {
                const machine on = fake::invent({nodes, 1, 2, 2, smt, numbers});
                const unsigned units = on.pu_count();
                for (const binding_policy policy : k_named_policies) {
                    for (unsigned workers = 0;
                         policy != binding_policy::none && workers <= 2 * units + 1; ++workers) {
                        const pus assigned = placed(on, policy, workers);
                        ASSERT_EQ(assigned.size(), workers);
                        const std::set<unsigned> distinct(assigned.begin(), assigned.end());
                        EXPECT_EQ(distinct.size(), std::min(workers, units));
                        for (unsigned worker = units; worker < workers; ++worker) {
                            EXPECT_EQ(assigned[worker], assigned[worker - units]);
                        }
                    }
                }
            }
        }
    }
}

/// Workers per position of some part of the machine, as {fewest, most}.
std::pair<unsigned, unsigned> extremes(const machine& on, const pus& assigned,
                                       unsigned quern::topology::processing_unit::*part,
                                       std::size_t parts) {
    std::vector<unsigned> counts(parts, 0);
    for (const unsigned pu : assigned) {
        ++counts[on.find(pu)->*part];
    }
    const auto [fewest, most] = std::minmax_element(counts.begin(), counts.end());
    return {*fewest, *most};
}

TEST(every_policy, keeps_its_promise_of_evenness_for_every_number_of_workers) {
    const machine on = fake::invent({4, 1, 1, 3, 2});
    for (unsigned workers = 1; workers <= on.pu_count(); ++workers) {
        using unit = quern::topology::processing_unit;
        for (const binding_policy policy :
             {binding_policy::scatter, binding_policy::balanced, binding_policy::numa_balanced}) {
            const auto [few, many] =
                extremes(on, placed(on, policy, workers), &unit::core, on.cores.size());
            EXPECT_LE(many - few, 1u) << name_of(policy) << " with " << workers;
        }
        for (const binding_policy policy :
             {binding_policy::scatter, binding_policy::numa_balanced}) {
            const auto [few, many] =
                extremes(on, placed(on, policy, workers), &unit::numa_node, on.numa_nodes.size());
            EXPECT_LE(many - few, 1u) << name_of(policy) << " with " << workers;
        }
    }
}

TEST(a_list, is_followed_in_its_order_and_repeated) {
    const machine on = fake::invent(k_two_nodes);
    const binding how{binding_policy::list, {5, 0, 1}};
    EXPECT_EQ(*assign(on, on.all_pus(), how, 5), (pus{5, 0, 1, 5, 0}));
    EXPECT_EQ(*assign(on, on.all_pus(), how, 2), (pus{5, 0}));
}

TEST(a_list, outside_of_the_allowed_units_is_refused) {
    const machine on = fake::invent(k_two_nodes);
    const auto refused = assign(on, pus{0, 1, 2}, {binding_policy::list, {0, 3}}, 1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.reason(),
              "binding 0,3 names CPU 3, which this process may not use; allowed: 0-2");
    EXPECT_FALSE(assign(on, on.all_pus(), {binding_policy::list, {}}, 1));
    EXPECT_FALSE(assign(on, pus{99}, {binding_policy::compact, {}}, 1));
}

TEST(cores_and_nodes, are_filled_evenly_by_those_of_the_allowed_units_that_belong_to_them) {
    const machine on = fake::invent(k_two_nodes_smt);
    const auto of = [&](const char* text, unsigned workers) {
        return *assign(on, on.all_pus(), *parse_binding(text), workers);
    };
    EXPECT_EQ(*pus_within(on, on.all_pus(), *parse_binding("node:1")),
              (cpu_list{8, 9, 10, 11, 12, 13, 14, 15}));
    EXPECT_EQ(of("node:1", 4), (pus{8, 10, 12, 14}));
    EXPECT_EQ(of("node:0-1", 2), (pus{0, 8}));
    EXPECT_EQ(*pus_within(on, on.all_pus(), *parse_binding("cores:1,4")), (cpu_list{2, 3, 8, 9}));
    EXPECT_EQ(of("cores:1,4", 2), (pus{2, 8}));
    EXPECT_EQ(of("cores:1,4", 6), (pus{2, 3, 8, 9, 2, 3}));
    EXPECT_EQ(*pus_within(on, pus{3, 9}, *parse_binding("cores:1,4")), (cpu_list{3, 9}));
    EXPECT_EQ(*pus_within(on, pus{3, 9}, {binding_policy::scatter, {}}), (cpu_list{3, 9}));
}

TEST(cores_and_nodes, that_do_not_exist_or_have_nothing_allowed_are_refused_with_what_there_is) {
    const machine on = fake::invent(k_two_nodes_smt);
    const auto refusal = [&](const char* text, const pus& allowed) {
        return assign(on, allowed, *parse_binding(text), 1).reason();
    };
    EXPECT_EQ(refusal("node:1-2", on.all_pus()),
              "binding node:1-2 names NUMA node 2, which the machine does not have; it has NUMA "
              "nodes 0-1");
    EXPECT_EQ(refusal("cores:8", on.all_pus()),
              "binding cores:8 names core 8, which the machine does not have; it has cores 0-7");
    const machine pc = fake::invent({1, 1, 1, 4, 2});
    EXPECT_EQ(
        assign(pc, pc.all_pus(), *parse_binding("node:1"), 1).reason(),
        "binding node:1 names NUMA node 1, which the machine does not have; it has NUMA node 0");
    EXPECT_EQ(refusal("node:1", pus{0, 1}),
              "binding node:1 has no CPU that this process may use; allowed: 0-1");
}

TEST(allowed, is_what_mask_and_cpuset_have_in_common) {
    const machine on = fake::invent({1, 1, 1, 4, 2, fake::numbering::first_threads_first});
    cpu_limits limits;
    EXPECT_EQ(allowed_pus(on, limits), (cpu_list{0, 4, 1, 5, 2, 6, 3, 7}));
    limits.affinity = cpu_list{0, 1, 4, 99};
    EXPECT_EQ(allowed_pus(on, limits), (cpu_list{0, 4, 1}));
    limits.cpuset = quern::topology::cpu_set{{1, 4, 5}, ""};
    EXPECT_EQ(allowed_pus(on, limits), (cpu_list{4, 1}));
    limits.cpuset = quern::topology::cpu_set{{6, 7}, ""};
    EXPECT_EQ(allowed_pus(on, limits), (cpu_list{0, 4, 1}));
    machine invented = on;
    invented.source = quern::topology::machine_source::synthetic;
    EXPECT_EQ(allowed_pus(invented, limits).size(), 8u);
}

TEST(binding_a_thread, moves_it_and_reports_a_refusal) {
    std::thread([] {
        const auto before = this_thread_affinity();
        ASSERT_TRUE(before);
        const unsigned target = before->back();
        EXPECT_EQ(bind_this_thread(target), std::nullopt);
        EXPECT_EQ(*this_thread_affinity(), cpu_list{target});
        EXPECT_EQ(bind_this_thread(*before), std::nullopt);
        EXPECT_EQ(*this_thread_affinity(), *before);

        const auto refused = bind_this_thread(8000);
        ASSERT_TRUE(refused);
        EXPECT_NE(refused->find("CPU 8000"), std::string::npos) << *refused;
        EXPECT_NE(refused->find("EINVAL"), std::string::npos) << *refused;
        EXPECT_TRUE(bind_this_thread(k_none));
        EXPECT_TRUE(bind_this_thread(std::span<const unsigned>{}));
        EXPECT_EQ(*this_thread_affinity(), *before);
    }).join();
}

}  // namespace
