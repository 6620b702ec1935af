// SPDX-License-Identifier: BSL-1.0
// Printing as the settings say, each case in a process of its own.
#include <quern/counters/counter.hpp>
#include <quern/counters/detail/attach.hpp>
#include <quern/counters/format.hpp>

#include "unit/counters/expect_refusal.hpp"
#include "unit/scheduler/in_child.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

namespace counters = quern::counters;
using quern_test::ended;
using quern_test::expect_part;

using variables = std::vector<std::pair<std::string, std::string>>;

/// A runtime of two workers that runs ten tasks, in a child with these variables.
ended run_with(variables outside, int runtimes = 1) {
    outside.emplace_back("QUERN_THREADS", "2");
    return quern_test::in_child({std::move(outside), {}}, [runtimes](int&, char**) {
        for (int i = 0; i < runtimes; ++i) {
            quern::runtime rt;
            for (int task = 0; task < 10; ++task) {
                quern::async(rt, [] {}).get();
            }
        }
        return 0;
    });
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

std::string content_of(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

std::string fresh_file(const char* name) {
    std::string file = testing::TempDir() + name + std::to_string(::getpid());
    std::filesystem::remove(file);
    return file;
}

constexpr const char* k_tasks = "/threads/count/cumulative";
constexpr const char* k_full = "/threads{locality#0/total}/count/cumulative";

TEST(printing, is_silent_where_nothing_is_wanted) { EXPECT_EQ(run_with({}).output, ""); }

TEST(printing, says_what_does_nothing_where_no_counters_are_named) {
    EXPECT_EQ(run_with({{"QUERN_PRINT_COUNTER_INTERVAL", "100"}}, 2).output,
              "quern: print-counter-interval is '100' (environment QUERN_PRINT_COUNTER_INTERVAL), "
              "which does nothing: print-counter names no counters\n");
}

// Holds: counters: print-counter: in each format, at the times that are chosen, to the chosen
//     place.
TEST(printing, shows_text_at_the_end) {
    const ended run = run_with({{"QUERN_PRINT_COUNTER", k_tasks}});
    EXPECT_EQ(run.status, 0);
    const auto lines = lines_of(run.output);
    ASSERT_EQ(lines.size(), 2U) << run.output;
    expect_part(lines[0], "counters after 0.");
    EXPECT_EQ(lines[1], "  " + std::string(k_full) + "          10");
}

// Holds: counters: print-counter: in each format...
TEST(printing, gives_the_lines_of_hpx_as_csv) {
    const ended run = run_with({{"QUERN_PRINT_COUNTER", std::string(k_tasks) + "; /runtime/uptime"},
                                {"QUERN_PRINT_COUNTER_FORMAT", "csv"}});
    const auto lines = lines_of(run.output);
    ASSERT_EQ(lines.size(), 2U) << run.output;
    EXPECT_EQ(lines[0].find(std::string(k_full) + ",1,0."), 0U) << lines[0];
    expect_part(lines[0], ",[s],10");
    expect_part(lines[1], ",[ns]");
}

// Holds: counters: print-counter: in each format...
TEST(printing, gives_a_table_as_short_csv) {
    const ended run =
        run_with({{"QUERN_PRINT_COUNTER", std::string(k_tasks) + ";/threads/idle-rate"},
                  {"QUERN_PRINT_COUNTER_FORMAT", "csv-short"},
                  {"QUERN_PRINT_COUNTER_AT", "both"}});
    const auto lines = lines_of(run.output);
    ASSERT_EQ(lines.size(), 3U) << run.output;
    EXPECT_EQ(lines[0],
              "sequence,time_s," + std::string(k_full) + ",/threads{locality#0/total}/idle-rate");
    EXPECT_EQ(lines[1].find("1,"), 0U);
    expect_part(lines[2], ",10,");
}

// Holds: counters: print-counter: in each format...
TEST(printing, gives_an_object_a_line_as_json) {
    const ended run = run_with(
        {{"QUERN_PRINT_COUNTER", std::string(k_tasks) + ";/threads/count/stolen-from-staged"},
         {"QUERN_PRINT_COUNTER_FORMAT", "json"}});
    const auto lines = lines_of(run.output);
    ASSERT_EQ(lines.size(), 1U) << run.output;
    EXPECT_EQ(lines[0].find("{\"time_s\":0."), 0U);
    expect_part(lines[0], "\"sequence\":1,\"counters\":[{\"name\":\"" + std::string(k_full) +
                              "\",\"value\":10,\"unit\":\"\",\"state\":\"ok\",\"why\":\"\"},");
    expect_part(lines[0], "\"value\":null,\"unit\":\"\",\"state\":\"absent\",\"why\":\"the same");
    EXPECT_EQ(lines[0].substr(lines[0].size() - 2), "]}");
}

// Holds: counters: print-counter: in each format...
TEST(printing, gives_an_exposition_as_openmetrics) {
    const ended run = run_with({{"QUERN_PRINT_COUNTER", "/threads{*}/count/cumulative"},
                                {"QUERN_PRINT_COUNTER_FORMAT", "openmetrics"}});
    const auto lines = lines_of(run.output);
    ASSERT_EQ(lines.size(), 6U) << run.output;
    EXPECT_EQ(lines[0], "# TYPE quern_threads_count_cumulative counter");
    EXPECT_EQ(lines[1], "# HELP quern_threads_count_cumulative tasks run to their end");
    EXPECT_EQ(lines[2], "quern_threads_count_cumulative_total{instance=\"locality#0/total\"} 10");
    EXPECT_EQ(lines[5], "# EOF");
}

// Holds: counters: print-counter: in each format...
TEST(printing, goes_to_a_file) {
    const std::string file = fresh_file("quern_counters_");
    const ended run = run_with({{"QUERN_PRINT_COUNTER", k_tasks},
                                {"QUERN_PRINT_COUNTER_FORMAT", "csv"},
                                {"QUERN_PRINT_COUNTER_DESTINATION", file}},
                               3);
    EXPECT_EQ(run.output, "");
    EXPECT_EQ(lines_of(content_of(file)).size(), 3U) << "one of each runtime";
    std::filesystem::remove(file);
}

TEST(printing, replaces_a_file_of_openmetrics) {
    const std::string file = fresh_file("quern_metrics_");
    run_with({{"QUERN_PRINT_COUNTER", k_tasks},
              {"QUERN_PRINT_COUNTER_FORMAT", "openmetrics"},
              {"QUERN_PRINT_COUNTER_AT", "both"},
              {"QUERN_PRINT_COUNTER_DESTINATION", file}});
    EXPECT_EQ(lines_of(content_of(file)).size(), 4U) << content_of(file);
    std::filesystem::remove(file);
}

TEST(printing, leaves_a_pipe_of_openmetrics_a_pipe) {
    const std::string file = fresh_file("quern_pipe_");
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    const int reader = ::open(file.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    run_with({{"QUERN_PRINT_COUNTER", k_tasks},
              {"QUERN_PRINT_COUNTER_FORMAT", "openmetrics"},
              {"QUERN_PRINT_COUNTER_DESTINATION", file}});
    char got[4096];
    const auto n = ::read(reader, got, sizeof got);
    ASSERT_GT(n, 0);
    EXPECT_EQ(lines_of(std::string(got, static_cast<std::size_t>(n))).size(), 4U);
    EXPECT_TRUE(std::filesystem::is_fifo(file));
    ::close(reader);
    std::filesystem::remove(file);
}

// Holds: counters: print-counter: in each format...
TEST(printing, goes_to_nobody) {
    const ended run =
        run_with({{"QUERN_PRINT_COUNTER", k_tasks}, {"QUERN_PRINT_COUNTER_DESTINATION", "none"}});
    EXPECT_EQ(run.output, "");
}

// Holds: counters: print-counter-destination: an unwritable file is reported, and the program
//     continues.
TEST(printing, lets_the_run_go_on_where_it_cannot_write) {
    const ended run = run_with({{"QUERN_PRINT_COUNTER", k_tasks},
                                {"QUERN_PRINT_COUNTER_DESTINATION", "/nowhere/counters"}});
    EXPECT_EQ(run.status, 0);
    EXPECT_EQ(run.output,
              "quern: print-counter-destination is '/nowhere/counters': ENOENT (No such file or "
              "directory); the counters of this runtime are not written\n");
}

// Holds: counters: print-counter-destination: an unwritable file is...
TEST(printing, says_what_a_full_device_has_lost) {
    const ended run = run_with({{"QUERN_PRINT_COUNTER", k_tasks},
                                {"QUERN_PRINT_COUNTER_AT", "both"},
                                {"QUERN_PRINT_COUNTER_DESTINATION", "/dev/full"}});
    EXPECT_EQ(run.status, 0);
    expect_part(run.output, "ENOSPC");
    expect_part(run.output, "2 prints of counters are lost");
    expect_part(run_with({{"QUERN_PRINT_COUNTER", k_tasks},
                          {"QUERN_PRINT_COUNTER_DESTINATION", "/dev/full"}})
                    .output,
                "; a print of counters is lost");
}

// Holds: counters: print-counter: in each format...
TEST(printing, happens_at_intervals_and_ends_with_the_runtime) {
    const std::string file = fresh_file("quern_intervals_");
    const ended run =
        quern_test::in_child({{{"QUERN_PRINT_COUNTER", k_tasks},
                               {"QUERN_PRINT_COUNTER_FORMAT", "csv"},
                               {"QUERN_PRINT_COUNTER_INTERVAL", "1"},
                               {"QUERN_PRINT_COUNTER_DESTINATION", file}},
                              {}},
                             [&file](int&, char**) {
                                 {
                                     quern::runtime rt(quern::runtime_options::with_workers(2));
                                     quern::async(rt, [] {}).get();
                                     if (!quern_test::eventually([&] {
                                             return lines_of(content_of(file)).size() > 5;
                                         })) {
                                         return 1;
                                     }
                                 }
                                 const std::size_t after = lines_of(content_of(file)).size();
                                 std::this_thread::sleep_for(std::chrono::milliseconds(10));
                                 return lines_of(content_of(file)).size() == after ? 0 : 2;
                             });
    EXPECT_EQ(run.status, 0) << run.output;
    std::filesystem::remove(file);
}

TEST(printing, works_where_a_task_ends_the_process) {
    const ended run =
        quern_test::in_child({{{"QUERN_PRINT_COUNTER", k_tasks},
                               {"QUERN_PRINT_COUNTER_INTERVAL", "1"},
                               {"QUERN_PRINT_COUNTER_DESTINATION", "stderr"}},
                              {}},
                             [](int&, char**) {
                                 static quern::runtime rt(quern::runtime_options::with_workers(2));
                                 quern::async(rt, [] { std::exit(5); }).get();
                                 return 0;
                             });
    EXPECT_EQ(run.status, 5);
    expect_part(run.output, k_full);
}

TEST(printing, is_each_runtimes_own_in_the_child_of_a_fork) {
    if (quern::detail::k_tsan || quern::detail::k_asan) {
        GTEST_SKIP() << "the sanitizers do not allow threads in the child of a fork";
    }
    const ended run = quern_test::in_child(
        {{{"QUERN_PRINT_COUNTER", k_tasks}, {"QUERN_PRINT_COUNTER_INTERVAL", "1000"}}, {}},
        [](int&, char**) {
            quern::runtime parents(quern::runtime_options::with_workers(2));
            quern::async(parents, [] {}).get();
            auto reader = counters::create(k_tasks, parents);
            auto sampled = counters::create("/statistics{/runtime/uptime}/max@1", parents);
            std::fflush(nullptr);
            const pid_t child = ::fork();
            if (child == 0) {
                ::alarm(20);
                int status = reader.value().ok() || sampled.value().ok() ? 3 : 0;
                {
                    quern::runtime mine(quern::runtime_options::with_workers(1));
                    quern::async(mine, [] {}).get();
                    auto own = counters::create("/statistics{/runtime/uptime}/max@1", mine);
                    status = quern_test::eventually([&] { return own.value().ok(); }) ? status : 4;
                }
                std::fflush(nullptr);
                ::_exit(status);
            }
            int status = 0;
            ::waitpid(child, &status, 0);
            return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
        });
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_EQ(lines_of(run.output).size(), 4U) << run.output;
}

// Holds: counters: print-counter: a name that no counter has is an error before the runtime starts.
TEST(printing, refuses_names_before_the_runtime_starts) {
    const ended run = run_with({{"QUERN_PRINT_COUNTER", "/threads/idle-rat"}});
    EXPECT_EQ(run.status, 99);
    expect_part(run.output,
                "quern: print-counter is '/threads/idle-rat' (environment "
                "QUERN_PRINT_COUNTER); counter name '/threads/idle-rat'");
    expect_part(run.output, "did you mean '/threads/idle-rate'?");
    expect_part(run_with({{"QUERN_PRINT_COUNTER", "/threads/idle-rate;/threads{totl}/x"}}).output,
                "at character 10");
}

TEST(printing, leaves_out_what_a_runtime_has_not_and_prints_the_others) {
    const ended run = run_with(
        {{"QUERN_PRINT_COUNTER", std::string("/threads{worker-thread#7}/idle-rate;") + k_tasks +
                                     ";/threads{pool#defualt/total}/idle-rate"}});
    EXPECT_EQ(run.status, 0);
    expect_part(
        run.output,
        "quern: counter name '/threads{worker-thread#7}/idle-rate': there is no instance "
        "'worker-thread#7'; there are locality#0/total, worker-thread#0 to #1, "
        "pool#default/total, pool#default/worker-thread#0 to #1 (this counter is not printed)\n");
    expect_part(run.output, "did you mean the pool 'default'? (this counter is not printed)\n");
    expect_part(run.output, std::string(k_full) + "          10\n");
}

TEST(printing, is_silent_where_nothing_of_it_is_there) {
    const ended run = run_with({{"QUERN_PRINT_COUNTER", "/threads{worker-thread#7}/idle-rate"}});
    EXPECT_EQ(lines_of(run.output).size(), 1U) << run.output;
}

// Holds: counters: list-counters: all names, or all with kind, unit and meaning.
TEST(listing, shows_all_names_once) {
    const ended run = run_with({{"QUERN_LIST_COUNTERS", "minimal"}}, 2);
    const auto lines = lines_of(run.output);
    const auto all = counters::all_counters();
    ASSERT_EQ(lines.size(), all.size()) << run.output;
    EXPECT_EQ(lines[0], all[0].name);
}

// Holds: counters: list-counters: all names, or...
TEST(listing, shows_help_and_units) {
    const std::string text = run_with({{"QUERN_LIST_COUNTERS", "full"}}).output;
    expect_part(text, "/threads/time/average\n    ratio, ns: mean time in the body of a task\n");
    expect_part(text, "/arithmetics/add@COUNTER,COUNTER\n    level: the sum of all operands\n");
    expect_part(text, "/statistics{COUNTER}/max@INTERVAL,WINDOW,RESET\n");
}

// Holds: counters: Numbers read back as the same numbers, but in text.
TEST(formats, write_numbers_that_read_back_the_same) {
    for (const double number : {0.0, 1.0 / 3, 1e300, 123456789.123456789, 5e-324, -2.5}) {
        counters::snapshot one;
        one.values.push_back({.name = "/a/b", .unit = "", .value = number});
        const std::string text = counters::formatted(one, 1, counters::print_format::csv);
        EXPECT_EQ(std::strtod(text.c_str() + text.rfind(',') + 1, nullptr), number) << text;
    }
}

TEST(formats, protect_what_would_end_a_field) {
    counters::snapshot one;
    one.values.push_back({.name = "/arithmetics/add@/a/\"b\",/c/d", .unit = "", .value = 1});
    EXPECT_EQ(counters::formatted(one, 1, counters::print_format::csv)
                  .find("\"/arithmetics/add@/a/\"\"b\"\",/c/d\",1,"),
              0U);
    expect_part(counters::formatted(one, 1, counters::print_format::json),
                "\"/arithmetics/add@/a/\\\"b\\\",/c/d\"");
}

TEST(formats, have_an_empty_field_for_what_is_unavailable) {
    counters::snapshot one;
    one.values.push_back(
        {.name = "/a/b", .unit = "J", .state = counters::source_state::denied, .why = "EACCES"});
    EXPECT_EQ(counters::formatted(one, 3, counters::print_format::csv), "/a/b,3,0,[s],,[J]\n");
    expect_part(counters::formatted(one, 3, counters::print_format::text), "unavailable (EACCES)");
    EXPECT_EQ(counters::formatted(one, 3, counters::print_format::openmetrics), "# EOF\n");
}

TEST(formats, have_base_units_and_one_end_in_openmetrics) {
    counters::snapshot one;
    one.values = {
        {.name = "/threads{locality#0/total}/time/cumulative", .unit = "ns", .value = 2e9},
        {.name = "/a{x}/b\"c",
         .unit = "0.01 %",
         .value = 2500,
         .kind = counters::counter_kind::level}};
    EXPECT_EQ(counters::formatted(one, 1, counters::print_format::openmetrics),
              "# TYPE quern_threads_time_cumulative_seconds counter\n"
              "# UNIT quern_threads_time_cumulative_seconds seconds\n"
              "# HELP quern_threads_time_cumulative_seconds time in the bodies of tasks\n"
              "quern_threads_time_cumulative_seconds_total{instance=\"locality#0/total\"} 2\n"
              "# TYPE quern_a_b_c_ratio gauge\n"
              "# UNIT quern_a_b_c_ratio ratio\n"
              "# HELP quern_a_b_c_ratio /a{x}/b\\\"c\n"
              "quern_a_b_c_ratio{instance=\"x\"} 0.25\n"
              "# EOF\n");
    counters::snapshot other;
    other.values = {{.name = "/app/steps", .unit = "", .value = 3}};
    const counters::snapshot both[] = {other, other};
    EXPECT_EQ(counters::as_openmetrics(both),
              "# TYPE quern_app_steps counter\n# HELP quern_app_steps /app/steps\n"
              "quern_app_steps_total{runtime=\"0\"} 3\nquern_app_steps_total{runtime=\"1\"} 3\n"
              "# EOF\n");
}

TEST(formats, have_units_for_people) {
    const auto shown = [](double number, const char* unit) {
        counters::snapshot one;
        one.values.push_back({.name = "x", .unit = unit, .value = number});
        const std::string line =
            lines_of(counters::formatted(one, 1, counters::print_format::text))[1];
        return line.substr(line.find_first_not_of(' ', 3));
    };
    EXPECT_EQ(shown(1'234'567, "ns"), "1.235 ms");
    EXPECT_EQ(shown(12, "ns"), "12 ns");
    EXPECT_EQ(shown(2500, "us"), "2.5 ms");
    EXPECT_EQ(shown(2500, "ns"), "2.5 µs");
    EXPECT_EQ(shown(3'221'225'472, "B"), "3 GiB");
    EXPECT_EQ(shown(1234, "0.01 %"), "12.34 %");
    EXPECT_EQ(shown(123'456'789, ""), "123456789");
    EXPECT_EQ(shown(0.5, "J"), "0.5 J");
}

TEST(formats, are_known_by_name) {
    EXPECT_EQ(counters::parse_print_format("csv-short"), counters::print_format::csv_short);
    expect_part(quern_test::refusal_of([] { counters::parse_print_format("jsn"); }),
                "did you mean 'json'?");
}

}  // namespace
