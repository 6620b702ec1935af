// SPDX-License-Identifier: BSL-1.0
// The page: complete, small enough, self-contained, and safe against names in it. With Python,
// read_page.py reads its content back.
#include <quern/trace/page.hpp>

#include "sample_recording.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>

namespace {

using quern::trace::recording;
using quern::trace::value_change;
using quern::trace::write_dot;
using quern_test::k_hostile_name;
using quern_test::sample_recording;

constexpr std::size_t k_limit = 10'000'000;

std::string page_of(const recording& run) {
    std::ostringstream out;
    quern::trace::write_page(run, out);
    return out.str();
}

std::size_t occurrences(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos;
         at = text.find(part, at + part.size())) {
        ++count;
    }
    return count;
}

/// The path of a file with the page, in the folder of the tests, for inspection.
std::string kept(const std::string& page, const std::string& name) {
    const std::string path = testing::TempDir() + "quern_page_" + name + ".html";
    std::ofstream(path) << page;
    return path;
}

/// Runs a program with the page and the number of slices as arguments; empty if there is none.
void expect_accepted(const std::string& program, const std::string& arguments) {
    if (!program.empty()) {
        const std::string command = program + " " + arguments;
        EXPECT_EQ(std::system(command.c_str()), 0) << command;
    }
}

/// Reads the page as a browser would, decodes its data, and runs its scripts.
void expect_readable(const std::string& page, const std::string& name, std::uint64_t slices) {
    const std::string arguments = kept(page, name) + " " + std::to_string(slices);
    expect_accepted(QUERN_TEST_PYTHON, QUERN_TEST_FOLDER "/read_page.py " + arguments);
    expect_accepted(QUERN_TEST_NODE, QUERN_TEST_FOLDER "/run_page.js " + arguments);
}

TEST(page, of_a_million_slices_is_small_and_readable) {
    const recording run = sample_recording(8, 1'000'000);
    const std::string page = page_of(run);
    EXPECT_LE(page.size(), k_limit);
    EXPECT_GE(page.size(), k_limit / 2) << "there was room for more";
    expect_readable(page, "million", 1'000'000);
}

TEST(page, of_a_small_run_contains_all_of_it) {
    const std::string page = page_of(sample_recording(4, 2'000));
    EXPECT_LE(page.size(), k_limit / 10);
    expect_readable(page, "small", 2'000);
}

TEST(page, has_events_by_kind_of_task_and_says_which_are_unavailable) {
    recording run = sample_recording(2, 1'000);
    run.events = {{.name = "instructions"},
                  {.name = "cycles", .counted = 0.5},
                  {.name = "r1a2", .why = "no such </script> event"}};
    for (std::size_t i = 0; i + 1 < run.sites.size(); ++i) {
        run.sites[i].events = {3123.0, 1234.0, 0.0};
    }
    const std::string page = page_of(run);
    EXPECT_NE(page.find("\"name\":\"cycles\",\"unit\":\"\",\"why\":\"\",\"counted\":0.5"),
              std::string::npos);
    EXPECT_NE(page.find("[3123,1234,0]"), std::string::npos);
    EXPECT_EQ(page.find("no such </script>"), std::string::npos);
    expect_readable(page, "events", 1'000);
}

TEST(page, says_what_was_not_recorded) {
    recording run = sample_recording(3, 3'000);
    run.lanes[1].dropped = 1'234;
    run.lanes[1].slices.resize(400);
    run.lanes[1].parked.clear();
    const std::string page = page_of(run);
    EXPECT_EQ(occurrences(page, "\"dropped\":1234,"), 1u);
    EXPECT_EQ(occurrences(page, "\"until\":" + std::to_string(run.lanes[1].slices.back().end_ns)),
              1u);
    expect_readable(page, "drops", 2'400);
}

TEST(page, of_totals_alone_has_no_slices) {
    recording run = sample_recording(3, 3'000);
    for (quern::trace::lane& lane : run.lanes) {
        lane.slices.clear();
        lane.parked.clear();
    }
    const std::string page = page_of(run);
    EXPECT_EQ(occurrences(page, "\"kept\":{\"total\":0,"), 1u);
    expect_accepted(QUERN_TEST_NODE,
                    QUERN_TEST_FOLDER "/run_page.js " + kept(page, "profile") + " 0");
}

/// A chain of tasks, of which each second one has a child; they are the first tasks of the lanes.
recording with_graph(std::uint32_t nodes) {
    recording run = sample_recording(2, 2'000);
    run.graph.kinds = {{run.sites[0].name, run.sites[0].location, 0},
                       {k_hostile_name, "x.cpp:1", 0}};
    for (std::uint32_t i = 0; i < nodes; ++i) {
        const bool is_child = i % 3 == 2;
        run.graph.nodes.push_back(
            {.kind = is_child ? 1U : 0U,
             .parent = is_child ? i - 1 : quern::trace::task_graph::k_none,
             .task = run.lanes[i % 2].slices[i % run.lanes[i % 2].slices.size()].task});
        ++run.graph.kinds[is_child ? 1 : 0].tasks;
        if (i >= 2 && !is_child) {
            run.graph.edges.emplace_back(i % 3 == 0 ? i - 2 : i - 1, i);
        }
    }
    run.graph.tasks = nodes;
    run.graph.kind_edges = {{0, 0, run.graph.edges.size()}, {0, 1, 7}};
    return run;
}

TEST(page, draws_the_graph_of_dependences) {
    const std::string small = page_of(with_graph(30));
    EXPECT_EQ(occurrences(small, "\"graph\":{\"tasks\":30,"), 1u);
    EXPECT_EQ(occurrences(small, "\"domains\":[1]"), 1u);
    expect_readable(small, "graph", 2'000);
    expect_readable(page_of(with_graph(300)), "middle_graph", 2'000);
}

TEST(page, draws_the_kinds_of_a_large_graph) {
    const std::string page = page_of(with_graph(401));
    EXPECT_EQ(occurrences(page, "\"domains\":[]"), 1u);
    EXPECT_EQ(occurrences(page, "\"nodes\":[]"), 1u);
    expect_readable(page, "large_graph", 2'000);
}

TEST(page, draws_equal_domains_once) {
    recording run = with_graph(30);
    quern::trace::task_graph& graph = run.graph;
    for (std::uint32_t i = 0; i < 30; ++i) {
        graph.nodes.push_back(graph.nodes[i]);
        graph.nodes.back().domain = 1;
        if (graph.nodes[i].parent != quern::trace::task_graph::k_none) {
            graph.nodes.back().parent += 30;
        }
    }
    const auto edges = graph.edges;
    for (const auto& [from, to] : edges) {
        graph.edges.emplace_back(from + 30, to + 30);
    }
    graph.tasks = 60;
    const std::string page = page_of(run);
    EXPECT_EQ(occurrences(page, "\"domains\":[2]"), 1u);
    expect_readable(page, "equal_graphs", 2'000);
}

TEST(page, without_dependent_tasks_has_no_graph) {
    EXPECT_EQ(occurrences(page_of(sample_recording(2, 200)), "\"graph\":"), 0u);
}

TEST(page, of_very_many_workers_is_small) {
    const std::string page = page_of(sample_recording(1'000, 1'000'000));
    EXPECT_LE(page.size(), k_limit);
    expect_readable(page, "many_workers", 1'000'000);
}

TEST(page, needs_nothing_from_anywhere) {
    const std::string page = page_of(sample_recording(2, 200));
    EXPECT_EQ(occurrences(page, "http://") + occurrences(page, "https://"),
              occurrences(page, "\"http://www.w3.org/2000/svg\""));
    for (const char* fetched : {"src=", "url(", "@import", "@font-face", "<link", "<img", "fetch(",
                                "XMLHttpRequest", "import("}) {
        EXPECT_EQ(occurrences(page, fetched), 0u) << fetched;
    }
    EXPECT_EQ(occurrences(page, "color-scheme: light dark;"), 1u) << "of share/page/base.css";
    EXPECT_EQ(occurrences(page, "--curve: #56b4e9;"), 1u) << "of src/trace/page/style.css";
}

TEST(page, withstands_every_name) {
    recording run = sample_recording(2, 200);
    const std::string& name = quern_test::k_hostile_name;
    run.program = run.command_line = run.machine = run.started = name;
    run.settings = {{name, name}};
    run.decisions = {{1, name, name}};
    run.counters[0].name = run.counters[0].unit = name;
    for (quern::trace::site& site : run.sites) {
        site.name = site.location = name;
    }
    const std::string page = page_of(run);
    EXPECT_EQ(occurrences(page, "</script>"), 2u) << "the data and the script of the page itself";
    EXPECT_EQ(occurrences(page, "<script>alert"), 0u);
    EXPECT_EQ(occurrences(page, "\xFF"), 0u);
    expect_readable(page, "names", 200);
}

TEST(page, has_what_tasks_waited_for) {
    recording run = sample_recording(2, 2'000);
    run.waits = {
        {.kind = "mutex",
         .is_lock = true,
         .thing = 0x5500,
         .site = 1,
         .waits = 30,
         .total_ns = 3e6,
         .max_ns = 4e5,
         .lines = {{"update_row", "heat.cpp:44", 20, 1'999'999}, {k_hostile_name, "", 10, 1e6}}},
        {.kind = "a future", .site = 99, .waits = 2, .total_ns = 1e3, .max_ns = 600}};
    for (quern::trace::lane& lane : run.lanes) {
        for (quern::trace::slice& piece : lane.slices) {
            piece.wait = piece.suspended ? 1 : 0;
        }
    }
    const std::string page = page_of(run);
    EXPECT_EQ(occurrences(page, "\"thing\":\"mutex 0x5500\",\"lock\":1,"), 1u);
    EXPECT_EQ(occurrences(page, "\"update_row\",\"heat.cpp:44\",20,1999999"), 1u);
    EXPECT_EQ(occurrences(page, "</script>"), 2u);
    expect_readable(page, "waits", 2'000);
    run.waits.resize(500, run.waits[1]);
    const std::string long_page = page_of(run);
    EXPECT_EQ(occurrences(long_page, "The page shows 200 of 500 rows of waits."), 1u);
}

TEST(page, has_decisions_with_their_values_and_reasons) {
    recording run = sample_recording(2, 200);
    for (int i = 0; i < 3; ++i) {
        run.decisions.push_back({.at_ns = run.duration_ns / 4 * static_cast<std::uint64_t>(i + 1),
                                 .who = "model",
                                 .what = "all of it",
                                 .change = value_change{.subject = "heat.partition",
                                                        .unit = "points",
                                                        .before = "1000",
                                                        .after = "42000",
                                                        .numbers = {{"", 1000, 42000}},
                                                        .inputs = "overhead 12 %",
                                                        .why = "trial " + std::to_string(i),
                                                        .is_trial = i < 2}});
    }
    run.decisions.back().change->observed = 0.61;
    run.decisions.push_back({.who = k_hostile_name,
                             .what = k_hostile_name,
                             .change = value_change{.subject = k_hostile_name,
                                                    .before = "a=1",
                                                    .after = "a=2",
                                                    .numbers = {{k_hostile_name, 1, 2}}}});
    const std::string page = page_of(run);
    EXPECT_EQ(occurrences(page, "\"value\":\"1000 -\\u003e 42000 points\""), 3u);
    EXPECT_EQ(occurrences(page, "\"trial\":true,\"applied\":true,\"numbers\":[[\"\",1000,42000]]}"),
              2u);
    EXPECT_EQ(occurrences(page, "\"numbers\":[[\"\",1000,42000]],\"observed\":0.61"), 1u);
    EXPECT_EQ(occurrences(page, "</script>"), 2u);
    expect_readable(page, "decisions", 200);
}

TEST(page, leaves_out_trials_before_other_decisions) {
    recording run = sample_recording(2, 200);
    run.decisions = {{.at_ns = 1, .who = "first", .change = value_change{}}};
    run.decisions.resize(2'001, {.at_ns = 2, .change = value_change{.is_trial = true}});
    const std::string page = page_of(run);
    EXPECT_EQ(occurrences(page, "\"who\":\"first\""), 1u);
    EXPECT_EQ(occurrences(page, "\"trial\":true"), 999u);
    EXPECT_EQ(occurrences(page, "The page shows 1,000 of 2,001 decisions."), 1u);
    expect_readable(page, "trials", 200);
}

TEST(page, says_which_counters_could_not_be_read) {
    recording run = sample_recording(2, 200);
    for (int i = 0; i < 10; ++i) {
        run.counters.insert(run.counters.begin(), {"/hw/" + std::to_string(i), "", {}, "denied"});
    }
    const std::string page = page_of(run);
    EXPECT_EQ(occurrences(page, "The counter /hw/9 is not drawn: denied."), 1u);
    EXPECT_EQ(occurrences(page, "is not drawn: "), 8u);
    EXPECT_EQ(occurrences(page, "2 further counters could not be read."), 1u);
    EXPECT_EQ(occurrences(page, "\"name\":\"/hw/"), 0u);
    EXPECT_EQ(occurrences(page, "\"name\":\"resident memory\""), 1u);
    expect_readable(page, "counters", 200);
}

TEST(page, of_very_long_names_is_small) {
    recording run = sample_recording(2, 200);
    run.sites.resize(1'000);
    for (quern::trace::site& site : run.sites) {
        site.name.assign(100'000, '<');
        site.location.assign(100'000, 'x');
    }
    for (std::uint32_t i = 0; i < 999; ++i) {
        run.tree.push_back({i, i + 1, 1});
    }
    run.command_line.assign(1'000'000, 'a');
    const std::string page = page_of(run);
    EXPECT_LE(page.size(), k_limit);
    expect_readable(page, "long_names", 200);
}

TEST(page, withstands_an_empty_and_a_senseless_recording) {
    expect_readable(page_of(recording()), "empty", 0);
    recording run = sample_recording(2, 20);
    run.lanes[0].slices[3].site = 4'000'000'000u;
    run.lanes[0].slices[4] = {900, 100, 1, 0, 0, false};  // ends before it begins
    run.lanes[0].slices[5].end_ns = std::numeric_limits<std::uint64_t>::max();
    run.lanes[1].parked.push_back({5, std::numeric_limits<std::uint64_t>::max()});
    run.counters[0].points[1].second = std::numeric_limits<double>::quiet_NaN();
    run.sites[1].total_ns = std::numeric_limits<double>::infinity();
    EXPECT_FALSE(page_of(run).empty());
    run.duration_ns = 0;
    EXPECT_FALSE(page_of(run).empty());
}

TEST(page, says_the_verdict_without_scripts) {
    const std::string page = page_of(quern_test::recording_of(4, {2.0, 6.0, 1.0}));
    EXPECT_EQ(
        occurrences(page, "<p class=\"headline\">22 % of the time of 4 workers was work.</p>"), 1u);
    EXPECT_EQ(occurrences(page, "{{"), 0u);
}

TEST(dot, has_a_node_for_each_site_and_an_edge_for_each_pair) {
    const recording run = sample_recording(2, 200);
    const std::string dot = write_dot(run);
    EXPECT_EQ(dot.rfind("digraph tasks {\n", 0), 0u);
    EXPECT_EQ(occurrences(dot, " -> "), 4u) << "the fifth is of a site that is not there";
    EXPECT_EQ(occurrences(dot, "shape=box"), 1u);
    EXPECT_EQ(occurrences(dot, "  s3 -> s3 [label=\"12\"];\n"), 1u);
    EXPECT_EQ(occurrences(dot, "\\\"'&\\\\ "), 1u) << dot;
    EXPECT_EQ(occurrences(dot, "update_row(grid&, std::size_t)\\nheat.cpp:42\\n"), 1u) << dot;
}

TEST(dot, of_very_many_edges_keeps_the_largest) {
    recording run;
    run.sites.resize(100);
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        run.tree.push_back({i / 100, i % 100, i});
    }
    const std::string dot = write_dot(run);
    EXPECT_EQ(occurrences(dot, " -> "), 2'000u);
    EXPECT_EQ(occurrences(dot, "8000 edges with fewer tasks are left out"), 1u);
    EXPECT_EQ(occurrences(dot, "[label=\"9,999\"]"), 1u);
}

}  // namespace
