// SPDX-License-Identifier: BSL-1.0
// The notation of CPU lists and the words for binding policies: accepted forms, and the errors for
// others.
#include <quern/base/detail/nearest_match.hpp>
#include <quern/topology/binding.hpp>
#include <quern/topology/cpu_list.hpp>

#include <gtest/gtest.h>

#include <array>

namespace {

using quern::detail::accepted_values;
using quern::detail::edit_distance;
using quern::detail::nearest_match;
using quern::topology::binding;
using quern::topology::binding_policy;
using quern::topology::cpu_list;
using quern::topology::k_named_policies;
using quern::topology::parse_binding;
using quern::topology::parse_cpu_list;
using quern::topology::parse_cpu_set;
using quern::topology::to_text;

TEST(cpu_lists, keep_the_order_and_duplicates_as_written) {
    EXPECT_EQ(*parse_cpu_list("0,2-5,8"), (cpu_list{0, 2, 3, 4, 5, 8}));
    EXPECT_EQ(*parse_cpu_list("4,0-1,4"), (cpu_list{4, 0, 1, 4}));
    EXPECT_EQ(*parse_cpu_list(" 1 , 3 - 4 \n"), (cpu_list{1, 3, 4}));
    EXPECT_EQ(*parse_cpu_list("7-7"), cpu_list{7});
    EXPECT_EQ(*parse_cpu_list(""), cpu_list{});
    EXPECT_EQ(*parse_cpu_list("65535"), cpu_list{65535});
}

TEST(cpu_lists, as_sets_are_ascending_and_unique) {
    EXPECT_EQ(*parse_cpu_set("4,0-1,4,1"), (cpu_list{0, 1, 4}));
    EXPECT_FALSE(parse_cpu_set("4,"));
}

TEST(cpu_lists, refuse_everything_else_and_quote_it) {
    for (const char* const bad :
         {",", "1,", ",1", "1,,2", "-", "-1", "1-", "2-1", "a", "1-2-3", "0x1", "1 2", "+1", "1.5",
          "65536", "0-4294967295", "99999999999999999999", "0-3:2"}) {
        const auto list = parse_cpu_list(bad);
        ASSERT_FALSE(list) << bad;
        EXPECT_NE(list.reason().find(bad), std::string::npos) << list.reason();
    }
    std::string endless;
    for (int i = 0; i < 100; ++i) {
        endless += "0-65535,";
    }
    EXPECT_FALSE(parse_cpu_list(endless + "1"));
}

TEST(cpu_lists, are_written_with_ranges) {
    EXPECT_EQ(to_text({}), "");
    EXPECT_EQ(to_text({3}), "3");
    EXPECT_EQ(to_text({0, 1, 2, 8}), "0-2,8");
    EXPECT_EQ(to_text({4, 0, 1}), "4,0-1");
    EXPECT_EQ(to_text({1, 1}), "1,1");
}

TEST(policy_names, are_read_back) {
    for (const binding_policy policy : k_named_policies) {
        const auto read = parse_binding(name_of(policy));
        ASSERT_TRUE(read) << read.reason();
        EXPECT_EQ(*read, (binding{policy, {}}));
    }
    EXPECT_EQ(*parse_binding(" scatter "), (binding{binding_policy::scatter, {}}));
    EXPECT_EQ(*parse_binding("3,0-1"), (binding{binding_policy::list, {3, 0, 1}}));
}

TEST(policy_names, errors_name_the_accepted_values_and_the_nearest) {
    EXPECT_EQ(parse_binding("scater").reason(),
              "binding \"scater\" is unknown; accepted: none, compact, scatter, balanced, "
              "numa-balanced, a list such as "
              "0,2-5,8, cores:0-3, node:1; did you mean 'scatter'?");
    EXPECT_NE(parse_binding("numa_balanced").reason().find("'numa-balanced'?"), std::string::npos);
    EXPECT_NE(parse_binding("Compact").reason().find("'compact'?"), std::string::npos);
    EXPECT_EQ(parse_binding("xyzzy").reason().find("did you mean"), std::string::npos);
    EXPECT_FALSE(parse_binding(""));
    EXPECT_FALSE(parse_binding("list"));
    EXPECT_NE(parse_binding("0-x").reason().find("\"0-x\""), std::string::npos);
}

TEST(lists_of_cores_and_nodes, are_read_and_written) {
    EXPECT_EQ(*parse_binding("cores:0-2,8"), (binding{binding_policy::cores, {0, 1, 2, 8}}));
    EXPECT_EQ(*parse_binding(" node:1 "), (binding{binding_policy::nodes, {1}}));
    EXPECT_EQ(*parse_binding("node:2,1,1"), (binding{binding_policy::nodes, {1, 2}}));
    for (const char* text : {"cores:0-2,8", "node:1", "3,0-1", "scatter"}) {
        EXPECT_EQ(name_of(*parse_binding(text)), text);
    }
}

TEST(lists_of_cores_and_nodes, that_are_empty_or_malformed_are_errors) {
    EXPECT_EQ(parse_binding("node:").reason(),
              "binding \"node:\" names nothing; a list such as node:0-3 is accepted");
    EXPECT_NE(parse_binding("cores:x").reason().find("\"x\""), std::string::npos);
    EXPECT_NE(parse_binding("cores:3-1").reason().find("ends before it begins"), std::string::npos);
    EXPECT_NE(parse_binding("nodes:1").reason().find("did you mean 'node:1'?"), std::string::npos);
}

TEST(edit_distances, count_the_four_edits) {
    EXPECT_EQ(edit_distance("", ""), 0u);
    EXPECT_EQ(edit_distance("", "abc"), 3u);
    EXPECT_EQ(edit_distance("abc", ""), 3u);
    EXPECT_EQ(edit_distance("abc", "ABC"), 0u);
    EXPECT_EQ(edit_distance("abc", "abxc"), 1u);
    EXPECT_EQ(edit_distance("abc", "ac"), 1u);
    EXPECT_EQ(edit_distance("abc", "abd"), 1u);
    EXPECT_EQ(edit_distance("ifno", "info"), 1u);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(nearest_matches, are_near_or_absent) {
    constexpr std::array<std::string_view, 3> k_words{"info", "counters", "run"};
    EXPECT_EQ(nearest_match("inof", k_words), "info");
    EXPECT_EQ(nearest_match("counter", k_words), "counters");
    EXPECT_EQ(nearest_match("rum", k_words), "run");
    EXPECT_EQ(nearest_match("graph", k_words), "");
    EXPECT_EQ(nearest_match("", k_words), "");
    EXPECT_EQ(nearest_match(std::string(100000, 'a'), k_words), "");
    EXPECT_EQ(nearest_match("info", {}), "");
    EXPECT_EQ(accepted_values("rum", k_words),
              "accepted: info, counters, run; did you mean 'run'?");
    EXPECT_EQ(accepted_values("graph", k_words), "accepted: info, counters, run");
}

}  // namespace
