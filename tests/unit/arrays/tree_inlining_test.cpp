// SPDX-License-Identifier: BSL-1.0
// Rules, statistics and what a tree tells of itself.
#include "unit/arrays/tree_making.hpp"

#include <quern/adaptation/decisions.hpp>
#include <quern/counters/counter.hpp>
#include <quern/settings/settings.hpp>

#include <algorithm>

namespace {

using namespace quern::arrays;
using quern_test::integer;
using quern_test::making;
using quern_test::number_of;
using quern_test::run;

/// Two calls of a tree beside each other; each of them counts to n.
struct two_counts {
    std::shared_ptr<const tree> whole;
    tree::node first = 0;
    tree::node second = 0;
};

two_counts make_two_counts() {
    making count({"n"}, "count");
    const auto step = count.set("k", count.op("add", {count.get("k"), count.number(1)}));
    const auto loop = count.of(
        node_kind::loop, {count.op("less", {count.get("k"), count.get("n")}), count.block({step})});
    const auto counting = count.finish(
        count.block({count.set("k", count.number(0)), loop, count.give(count.get("k"))}));
    making m({"n"});
    two_counts made;
    made.first = m.call(counting, {m.get("n")});
    made.second = m.call(counting, {m.get("n")});
    made.whole = m.finish(m.give(m.op("add", {made.first, made.second})));
    return made;
}

std::uint64_t tasks_of(const tree& f, tree::node n) {
    const node_statistics counted = f.statistics(n);
    return counted.evaluations - counted.inlined;
}

std::uint64_t tasks_in(const two_counts& f) {
    return tasks_of(*f.whole, f.first) + tasks_of(*f.whole, f.second);
}

void run_times(const two_counts& f, int times, std::int64_t n, inlining_rule rule) {
    const quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::async(rt, [&] {
        for (int i = 0; i < times; ++i) {
            EXPECT_EQ(number_of(run(*f.whole, {integer(n)}, rule)), 2 * n);
        }
    }).get();
}

// Holds: tree: With the rule `never` every node that may be a task is one, with `always` none.
TEST(tree_rules, never_and_always) {
    const two_counts never = make_two_counts();
    run_times(never, 10, 3, inlining_rule::never);
    EXPECT_EQ(tasks_in(never), 20u);
    const two_counts always = make_two_counts();
    run_times(always, 10, 3, inlining_rule::always);
    EXPECT_EQ(tasks_in(always), 0u);
}

// Holds: tree: With `baseline` and `adaptive` short nodes are inlined after five evaluations, with
// `quern` after a few.
TEST(tree_rules, short_nodes_are_inlined_after_a_few_evaluations) {
    for (const inlining_rule rule :
         {inlining_rule::baseline, inlining_rule::adaptive, inlining_rule::quern}) {
        const two_counts f = make_two_counts();
        run_times(f, 200, 0, rule);
        const std::uint64_t tasks = tasks_in(f);
        EXPECT_GE(tasks, rule == inlining_rule::quern ? 1u : 8u);
        EXPECT_LE(tasks, 200u) << "a disturbed machine lengthens nodes";
        const auto all = quern::adaptation::decisions();
        EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const auto& each) {
            return each.subject.starts_with("count() in f@f.py:") && !each.why.empty();
        }));
    }
}

TEST(tree_rules, long_nodes_stay_tasks) {
    const two_counts f = make_two_counts();
    run_times(f, 20, 5'000, inlining_rule::quern);
    EXPECT_EQ(tasks_in(f), 20u) << "one of the two; the other one runs in its parent's place";
    const two_counts baseline = make_two_counts();
    run_times(baseline, 10, 50'000, inlining_rule::baseline);
    EXPECT_EQ(tasks_in(baseline), 20u);
}

// Holds: tree: The rule `settings` is that of the setting "inlining" when the runtime was made.
TEST(tree_rules, settings_name_the_rule) {
    for (const char* const rule : {"never", "always"}) {
        const two_counts f = make_two_counts();
        quern::set_setting("inlining", rule);
        run_times(f, 10, 3, inlining_rule::settings);
        quern::set_setting("inlining", "quern");
        EXPECT_EQ(tasks_in(f), rule == std::string("never") ? 20u : 0u);
    }
    const quern::runtime resets_the_rule(quern::runtime_options::with_workers(1));
}

TEST(tree_rules, one_worker_has_no_use_for_tasks) {
    const two_counts f = make_two_counts();
    const quern::runtime rt(quern::runtime_options::with_workers(1));
    quern::async(rt, [&] { run(*f.whole, {integer(1000)}, inlining_rule::quern); }).get();
    EXPECT_EQ(tasks_in(f), 0u);
}

// Holds: tree: Evaluations are counted exactly, also by many tasks; reset_statistics() begins anew.
TEST(tree_statistics, count_evaluations) {
    making m({"n"});
    const auto sum = m.op("add", {m.get("i"), m.number(1)});
    const auto store = m.set("s", sum);
    const auto loop =
        m.loop_over(node_kind::parallel_for, "i", m.range(m.get("n")), m.block({store}));
    const auto f = m.finish(m.block({loop}));
    for (int i = 0; i < 5; ++i) {
        run(*f, {integer(1000)});
    }
    EXPECT_EQ(f->statistics(sum).evaluations, 5'000u);
    EXPECT_EQ(f->statistics(store).evaluations, 5'000u);
    EXPECT_EQ(f->statistics(loop).evaluations, 5u);
    EXPECT_GT(f->statistics(loop).inclusive_ns, 0u);
    EXPECT_GT(f->statistics(sum).exclusive_ns, 0u);
    EXPECT_LE(f->statistics(sum).exclusive_ns, f->statistics(sum).inclusive_ns);
    f->reset_statistics();
    EXPECT_EQ(f->statistics(sum).evaluations, 0u);
    EXPECT_EQ(f->statistics(loop).inclusive_ns, 0u);
}

// Holds: tree: The counters /primitives/… sum over the trees of the process, also over those that
// have ended.
TEST(tree_statistics, counters_sum_over_trees) {
    run(*make_two_counts().whole, {integer(1)});  // installs them
    const quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::counters::counter_set counted(rt);
    ASSERT_EQ(counted.add("/primitives/count/*"), 2u);
    {
        making m({"x"});
        const auto f = m.finish(m.give(m.op("add", {m.get("x"), m.number(1)})));
        quern::async(rt, [&] {
            for (int i = 0; i < 10; ++i) {
                run(*f, {integer(i)});
            }
        }).get();
        f->reset_statistics();
    }
    for (const auto& each : counted.evaluate().values) {
        EXPECT_EQ(each.value, 10) << each.name;
    }
}

// Holds: tree: The counters /primitives/<name>/… are the same of one primitive, of calls of trees
// and of foreign functions.
TEST(tree_statistics, counters_of_one_primitive) {
    run(*make_two_counts().whole, {integer(1)});  // installs those of add, less and call_tree
    const quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::counters::counter_set counted(rt);
    ASSERT_EQ(counted.add("/primitives/add/count/eval"), 1u);
    ASSERT_EQ(counted.add("/primitives/less/count/eval"), 1u);
    ASSERT_EQ(counted.add("/primitives/call_tree/count/eval"), 1u);
    ASSERT_EQ(counted.add("/primitives/add/time/eval"), 1u);
    quern::async(rt, [] { run(*make_two_counts().whole, {integer(50)}); }).get();
    const auto values = counted.evaluate().values;
    EXPECT_EQ(values[0].value, 101);
    EXPECT_EQ(values[1].value, 102);
    EXPECT_EQ(values[2].value, 2);
    EXPECT_GT(values[3].value, 0);
}

// Holds: tree: There are no more counters after many trees than after one.
TEST(tree_statistics, counters_do_not_grow_with_the_number_of_trees) {
    const auto make_and_run = [](int i) {
        making m({"x"}, "f" + std::to_string(i));
        run(*m.finish(m.give(m.op("subtract", {m.get("x"), m.number(1)}))), {integer(i)});
    };
    make_and_run(0);
    const quern::runtime rt(quern::runtime_options::with_workers(1));
    quern::counters::counter_set counted(rt);
    ASSERT_EQ(counted.add("/primitives/subtract/count/eval"), 1u);
    const std::size_t before = quern::counters::all_counters().size();
    constexpr int k_trees = 100'000;
    for (int i = 0; i < k_trees; ++i) {
        make_and_run(i);
    }
    EXPECT_EQ(quern::counters::all_counters().size(), before);
    EXPECT_EQ(counted.evaluate().values[0].value, k_trees);
}

TEST(tree_exports, tell_of_every_node) {
    making m({"x"}, "it's");
    const auto sum = m.op("add", {m.get("x"), m.number(1)});
    const auto f = m.finish(m.give(sum));
    run(*f, {integer(1)});
    EXPECT_EQ(f->to_newick(), "(('x','1')'add')'return';\n");
    const std::string dot = f->to_dot();
    EXPECT_EQ(dot.substr(0, 8), "digraph ");
    EXPECT_NE(dot.find("n2 [label=\"add (3)\"];"), std::string::npos) << dot;
    EXPECT_NE(dot.find("n2 -> n0;"), std::string::npos) << dot;
    const std::string json = f->to_json();
    for (const char* const part :
         {"\"kind\":\"call\"", "\"name\":\"add\"", "\"line\":3", "\"evaluations\":1",
          "\"decision\":\"inlined\"", "\"parent\":3", "\"language\":\"Python\""}) {
        EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
    }
    const std::string text = f->explain();
    EXPECT_NE(text.find("it's (f.py), 1 call"), std::string::npos) << text;
    EXPECT_NE(text.find("nothing may run beside it"), std::string::npos) << text;
}

TEST(tree_exports, deep_trees_need_no_deep_stack) {
    constexpr int k_deep = 100'000;
    making m({"x"});
    tree::node top = m.get("x");
    for (int i = 0; i < k_deep; ++i) {
        top = m.of(node_kind::negation, {top});
    }
    const auto f = m.finish(m.give(top));
    EXPECT_TRUE(truth_of(run(*f, {value(true)})));
    EXPECT_FALSE(f->to_newick().empty());
    EXPECT_GT(f->to_json().size(), static_cast<std::size_t>(k_deep));
    EXPECT_FALSE(f->to_dot().empty());
    EXPECT_FALSE(f->explain().empty());
}

}  // namespace
