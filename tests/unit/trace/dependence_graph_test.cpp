// SPDX-License-Identifier: BSL-1.0
// The graph of dependent tasks: its edges are those of the program, whatever ran when; and what is
// computed and written of graphs.
#include <quern/base/detail/config.hpp>
#include <quern/dependences/domain.hpp>
#include <quern/dependences/replay.hpp>
#include <quern/dependences/spawn.hpp>
#include <quern/trace/dependence_graph.hpp>
#include <quern/trace/recorder.hpp>

#include "unit/scheduler/on_runtime.hpp"
#include "unit/trace/sample_recording.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using quern::domain;
using quern::in;
using quern::inout;
using quern::out;
using quern::trace::dependence_chain_of;
using quern::trace::recorder;
using quern::trace::recording;
using quern::trace::slice;
using quern::trace::task_graph;
using quern::trace::write_graph;

using edges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// Reads and writes of one tile, in the order of the program: the oracle.
class tile_history {
public:
    void read(std::uint32_t task, std::set<std::uint32_t>& after) {
        if (m_writer != k_none) {
            after.insert(m_writer);
        }
        m_readers.push_back(task);
    }
    void write(std::uint32_t task, std::set<std::uint32_t>& after) {
        after.insert(m_readers.begin(), m_readers.end());
        if (m_readers.empty() && m_writer != k_none) {
            after.insert(m_writer);
        }
        m_readers.clear();
        m_writer = task;
    }

private:
    static constexpr std::uint32_t k_none = ~0U;
    std::uint32_t m_writer = k_none;
    std::vector<std::uint32_t> m_readers;
};

/// Calls task(name, reads, writes) for each task of a factorisation; tiles by number.
void for_each_task(int tiles, const std::function<void(const char*, std::vector<int>, int)>& task) {
    const auto at = [tiles](int i, int j) { return i * tiles + j; };
    for (int k = 0; k < tiles; ++k) {
        task("potrf", {}, at(k, k));
        for (int i = k + 1; i < tiles; ++i) {
            task("trsm", {at(k, k)}, at(i, k));
        }
        for (int i = k + 1; i < tiles; ++i) {
            for (int j = k + 1; j < i; ++j) {
                task("gemm", {at(i, k), at(j, k)}, at(i, j));
            }
            task("syrk", {at(i, k)}, at(i, i));
        }
    }
}

/// And the names of the tasks.
edges expected_edges(int tiles, std::vector<std::string>& names) {
    std::map<int, tile_history> all;
    edges expected;
    for_each_task(tiles, [&](const char* name, const std::vector<int>& reads, int writes) {
        const auto number = static_cast<std::uint32_t>(names.size());
        names.emplace_back(name);
        std::set<std::uint32_t> after;
        for (const int each : reads) {
            all[each].read(number, after);
        }
        all[writes].write(number, after);
        for (const std::uint32_t each : after) {
            expected.emplace_back(each, number);
        }
    });
    return expected;
}

class dependence_graphs : public quern_test::on_runtime {
protected:
    template <class Program>
    task_graph graph_of(Program program) {
        recorder recording_of(rt);
        quern::async(rt, program).get();
        return recording_of.stop().graph;
    }

    static void factorise(std::array<double, 25>& data) {
        domain work;
        for_each_task(5, [&](const char* name, const std::vector<int>& reads, int writes) {
            double& target = data[static_cast<std::size_t>(writes)];
            const auto source = [&](std::size_t i) -> double& {
                return data[static_cast<std::size_t>(reads[i])];
            };
            if (reads.empty()) {
                work.spawn({.name = name}, inout(target), [] {});
            } else if (reads.size() == 1) {
                work.spawn({.name = name}, in(source(0)), inout(target), [] {});
            } else {
                work.spawn({.name = name}, in(source(0)), in(source(1)), inout(target), [] {});
            }
        });
        work.taskwait();
    }
};
QUERN_ON_1_2_8_WORKERS(dependence_graphs);

TEST_P(dependence_graphs, of_a_factorisation_have_exactly_its_edges) {
    std::vector<std::string> names;
    const edges expected = expected_edges(5, names);
    std::array<double, 25> data{};
    for (int i = 0; i < 20; ++i) {
        const task_graph graph = graph_of([&] { factorise(data); });
        ASSERT_EQ(graph.nodes.size(), 35U);
        EXPECT_EQ(graph.edges, expected);
        for (std::size_t j = 0; j < names.size(); ++j) {
            EXPECT_EQ(graph.kinds[graph.nodes[j].kind].name, names[j]);
            EXPECT_NE(graph.nodes[j].task, 0U);
            EXPECT_EQ(graph.nodes[j].parent, task_graph::k_none);
        }
        EXPECT_EQ(graph.kinds.size(), 4U);  // of three places
    }
}

// The data were released long before the successor was made.
TEST_P(dependence_graphs, have_edges_that_kept_nothing_waiting) {
    const task_graph graph = graph_of([] {
        domain work;
        std::array<int, 4> data{};
        work.spawn(out(data), [] {});
        work.taskwait();
        work.spawn(in(data), [] {});
        work.spawn(in(data[1]), [] {});
        work.taskwait();
        work.spawn(out(data[1]), [] {});
        work.spawn(out(data[2]), [] {});
        work.taskwait();
    });
    EXPECT_EQ(graph.edges, (edges{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {1, 4}}));
}

TEST_P(dependence_graphs, know_the_parents_of_children) {
    const task_graph graph = graph_of([] {
        domain work;
        int value = 0;
        work.spawn({.name = "parent"}, inout(value), [](int& v) {
            quern::spawn({.name = "first"}, inout(v), [] {});
            quern::spawn({.name = "second"}, inout(v), [] {});
        });
        work.taskwait();
        work.spawn({.name = "after"}, in(value), [] {});
    });
    ASSERT_EQ(graph.nodes.size(), 4U);
    EXPECT_EQ(graph.nodes[1].parent, 0U);
    EXPECT_EQ(graph.nodes[2].parent, 0U);
    EXPECT_EQ(graph.nodes[3].parent, task_graph::k_none);
    EXPECT_EQ(graph.edges, (edges{{1, 2}, {0, 3}}));
    const std::string text = write_graph(graph);
    EXPECT_NE(text.find("t1 -> t2 [style=dashed]"), std::string::npos) << text;
    EXPECT_EQ(text.find("t1 -> t3"), std::string::npos) << text;
}

TEST_P(dependence_graphs, tell_domains_at_the_same_address_apart_and_draw_equal_ones_once) {
    std::array<double, 25> data{};
    const task_graph graph = graph_of([&] {
        factorise(data);
        factorise(data);
        domain other;
        other.spawn({.name = "alone"}, inout(data[0]), [] {});
    });
    ASSERT_EQ(graph.nodes.size(), 71U);
    EXPECT_EQ(graph.edges.size(), 120U);
    EXPECT_EQ(graph.nodes[34].domain, 0U);
    EXPECT_EQ(graph.nodes[35].domain, 1U);
    EXPECT_EQ(graph.nodes[70].domain, 2U);
    const std::string text = write_graph(graph);
    EXPECT_NE(text.find("2 domains with this graph"), std::string::npos) << text;
    EXPECT_NE(text.find("label=\"potrf\\n1\""), std::string::npos) << text;
    EXPECT_EQ(text.find("label=\"potrf\\n36\""), std::string::npos) << text;
    EXPECT_NE(text.find("label=\"alone\\n71\""), std::string::npos) << text;
}

TEST_P(dependence_graphs, are_of_one_recording_each) {
    const auto pair = [] {
        domain work;
        int value = 0;
        work.spawn(out(value), [] {});
        work.spawn(in(value), [] {});
    };
    EXPECT_EQ(graph_of(pair).tasks, 2U);
    recorder outer(rt);
    quern::async(rt, pair).get();
    EXPECT_EQ(graph_of(pair).edges, (edges{{0, 1}}));
    EXPECT_EQ(outer.stop().graph.edges, (edges{{0, 1}, {2, 3}}));
    recorder without(rt, {.dependences = false});
    quern::async(rt, pair).get();
    EXPECT_EQ(without.stop().graph.tasks, 0U);
}

// The children of a task with weak accesses follow what the task follows.
TEST_P(dependence_graphs, lead_through_weak_accesses) {
    const task_graph graph = graph_of([] {
        domain work;
        std::array<int, 4> data{};
        work.spawn({.name = "0"}, out(data[0]), [] {});
        work.spawn({.name = "1"}, out(data[1]), [] {});
        work.spawn({.name = "2"}, quern::weak(inout(data)), [&data] {
            quern::spawn({.name = "child"}, inout(data[0]), [] {});
            quern::spawn({.name = "other"}, inout(data[3]), [] {});
            quern::spawn({.name = "nested"}, quern::weak(inout(data)), [&data] {
                quern::spawn({.name = "grandchild"}, in(data[1]), in(data[0]), [] {});
            });
        });
        work.taskwait();
        work.spawn({.name = "after"}, in(data[0]), [] {});
    });
    ASSERT_EQ(graph.nodes.size(), 8U);
    std::set<std::pair<std::string, std::string>> found;
    for (const auto& [from, to] : graph.edges) {
        found.emplace(graph.kinds[graph.nodes[from].kind].name,
                      graph.kinds[graph.nodes[to].kind].name);
    }
    EXPECT_EQ(found.size(), graph.edges.size()) << "each once";
    EXPECT_EQ(found,
              (decltype(found){
                  {"0", "child"}, {"child", "grandchild"}, {"1", "grandchild"}, {"2", "after"}}));
}

TEST_P(dependence_graphs, say_what_they_do_not_show) {
    const task_graph graph = graph_of([] {
        domain work;
        std::array<int, 4> data{};
        quern::replay(work, 10, [&](std::int64_t) {
            work.spawn(inout(data[0]), [] {});
            work.spawn(inout(data[1]), [] {});
        });
    });
    EXPECT_EQ(graph.tasks + graph.replayed, 20U);
    EXPECT_GE(graph.replayed, 2U * 8U);
    const std::string text = write_graph(graph);
    EXPECT_NE(
        text.find(" further tasks of replayed steps: each step has the graph of the recorded"),
        std::string::npos)
        << text;
}

TEST_P(dependence_graphs, begin_in_the_middle) {
    domain work(rt.default_pool());
    int value = 0;
    work.spawn({.name = "before"}, out(value), [] {});
    recorder recording_of(rt);
    work.spawn({.name = "within"}, inout(value), [] {});
    work.spawn({.name = "within"}, inout(value), [] {});
    work.taskwait();
    const task_graph graph = recording_of.stop().graph;
    EXPECT_EQ(graph.tasks, 2U);
    EXPECT_EQ(graph.edges, (edges{{0, 1}}));
    work.spawn({.name = "after"}, inout(value), [] {});
    work.taskwait();
}

/// A graph of one kind for each node, all in one domain.
task_graph graph_with(std::size_t nodes, edges all) {
    task_graph made;
    for (std::uint32_t i = 0; i < nodes; ++i) {
        made.kinds.push_back({"k" + std::to_string(i), "", 1});
        made.nodes.push_back({.kind = i, .task = i + 1});
    }
    made.edges = std::move(all);
    made.tasks = nodes;
    return made;
}

TEST(graph_text, beyond_2000_tasks_has_a_node_for_each_kind) {
    task_graph graph;
    graph.kinds = {{"a", "x.cpp:1", 2001}, {"b", "", 3}};
    graph.tasks = 2004;
    for (std::uint32_t i = 0; i < 2004; ++i) {
        graph.nodes.push_back({.kind = i < 2001 ? 0U : 1U});
    }
    graph.edges = {{0, 2001}, {1, 2001}};
    graph.kind_edges = {{0, 1, 2}};
    const std::string text = write_graph(graph);
    EXPECT_NE(text.find("k1 [label=\"a\\nx.cpp:1\\n2,001 tasks\""), std::string::npos) << text;
    EXPECT_NE(text.find("k1 -> k2 [label=\"2\"]"), std::string::npos) << text;
    EXPECT_EQ(text.find("t1"), std::string::npos) << text;
    graph.nodes.resize(1);  // it was not recorded task by task
    EXPECT_NE(write_graph(graph).find("2,001 tasks"), std::string::npos);
}

TEST(graph_text, escapes_names) {
    task_graph graph = graph_with(1, {});
    graph.kinds[0].name = quern_test::k_hostile_name + "\" ]; evil [ label=\"";
    const std::string text = write_graph(graph);
    const std::size_t at = text.find("\" ]; evil");
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_EQ(text[at - 1], '\\') << text;
}

TEST(graph_text, of_nothing_is_an_empty_graph) {
    EXPECT_EQ(write_graph({}),
              "digraph dependences {\n  node [shape=box, style=\"filled,rounded\"];\n}\n");
}

/// A recording whose task i ran from begins[i] for lengths[i].
recording run_of(task_graph graph,
                 const std::vector<std::pair<std::uint64_t, std::uint64_t>>& ran) {
    recording run;
    run.lanes.emplace_back();
    for (std::size_t i = 0; i < ran.size(); ++i) {
        run.lanes[0].slices.push_back(
            {.begin_ns = ran[i].first, .end_ns = ran[i].first + ran[i].second, .task = i + 1});
    }
    run.graph = std::move(graph);
    return run;
}

TEST(dependence_chain_test, is_the_longest_by_time_and_not_by_number) {
    // 0 -> 1 -> 3 takes 60, 0 -> 2 -> 3 takes 120.
    const auto chain = dependence_chain_of(run_of(graph_with(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}),
                                                  {{0, 10}, {10, 40}, {50, 100}, {150, 10}}));
    EXPECT_EQ(chain.total_ns, 120);
    EXPECT_EQ(chain.work_ns, 160);
    EXPECT_EQ(chain.span_ns, 160);
    EXPECT_EQ(chain.nodes, (std::vector<std::uint32_t>{0, 2, 3}));
    EXPECT_EQ(chain.kind_ns, (std::vector<double>{10, 0, 100, 10}));
    EXPECT_NEAR(chain.possible(), 160.0 / 120, 1e-9);
    EXPECT_NEAR(chain.used(), 1, 1e-9);
}

TEST(dependence_chain_test, counts_the_longest_chain_of_children_after_their_parent) {
    task_graph graph = graph_with(5, {{1, 2}, {0, 4}});
    graph.nodes[1].parent = graph.nodes[2].parent = graph.nodes[3].parent = 0;
    const auto chain =
        dependence_chain_of(run_of(graph, {{0, 10}, {10, 20}, {30, 30}, {60, 40}, {100, 5}}));
    EXPECT_EQ(chain.total_ns, 10 + 50 + 5);
    EXPECT_EQ(chain.nodes, (std::vector<std::uint32_t>{0, 4}));
    EXPECT_EQ(chain.kind_ns, (std::vector<double>{10, 20, 30, 0, 5}));
}

// 0 -> the child 3 of 1; 2 follows 1 and so its children; it was made before these.
TEST(dependence_chain_test, follows_edges_to_children_and_from_their_parents) {
    task_graph graph = graph_with(5, {{1, 2}, {0, 3}});
    graph.nodes[3].parent = graph.nodes[4].parent = 1;
    const auto chain =
        dependence_chain_of(run_of(graph, {{0, 100}, {0, 10}, {200, 7}, {100, 50}, {10, 20}}));
    EXPECT_EQ(chain.total_ns, 100 + 50 + 7);
    EXPECT_EQ(chain.nodes, (std::vector<std::uint32_t>{0, 3, 2}));
    EXPECT_EQ(chain.kind_ns, (std::vector<double>{100, 0, 7, 50, 0}));
}

TEST(dependence_chain_test, adds_domains_of_other_times_and_takes_the_longest_of_the_same_time) {
    task_graph graph = graph_with(3, {});
    graph.nodes[1].domain = 1;
    graph.nodes[2].domain = 2;
    const auto chain = dependence_chain_of(run_of(graph, {{0, 10}, {5, 25}, {1000, 100}}));
    EXPECT_EQ(chain.total_ns, 25 + 100);
    EXPECT_EQ(chain.span_ns, 30 + 100);
}

TEST(dependence_chain_test, is_not_known_when_pieces_or_nodes_are_missing) {
    recording run = run_of(graph_with(2, {{0, 1}}), {{0, 10}, {10, 10}});
    EXPECT_EQ(dependence_chain_of(run).total_ns, 20);
    run.graph.tasks = 3;
    EXPECT_EQ(dependence_chain_of(run).total_ns, 0);
    run.graph.tasks = 2;
    run.lanes[0].dropped = 1;
    EXPECT_EQ(dependence_chain_of(run).total_ns, 0);
    run.lanes[0].dropped = 0;
    run.lanes[0].slices.pop_back();  // a sample
    EXPECT_EQ(dependence_chain_of(run).total_ns, 0);
    EXPECT_EQ(dependence_chain_of(run).possible(), 0);
    run.graph.nodes[1].task = 0;  // it has not begun
    EXPECT_EQ(dependence_chain_of(run).total_ns, 10);
    EXPECT_EQ(dependence_chain_of({}).total_ns, 0);
}

}  // namespace
