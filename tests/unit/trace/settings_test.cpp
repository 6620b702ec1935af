// SPDX-License-Identifier: BSL-1.0
// The settings `trace` and `profile`, in a process of their own: the files that they write, and the
// messages when they cannot.
#include <quern/base/detail/config.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct result {
    int status;
    std::string output;  ///< both streams
};

result run(const std::string& arguments) {
    std::FILE* const pipe = ::popen((TRACED_PROGRAM " " + arguments + " 2>&1").c_str(), "r");
    result r{-1, {}};
    char piece[4096];
    while (std::fgets(piece, sizeof piece, pipe) != nullptr) {
        r.output += piece;
    }
    r.status = ::pclose(pipe);
    return r;
}

/// The values of a series on a page; each is preceded by its time.
std::vector<double> values_of(const std::string& page, const std::string& name) {
    const std::string begin = "\"name\":\"" + name + "\"";
    const std::size_t at = page.find("\"points\":[", std::min(page.find(begin), page.size()));
    std::vector<double> values;
    if (at == std::string::npos) {
        return values;
    }
    std::istringstream points(page.substr(at + 10, page.find(']', at) - at - 10));
    char between = 0;
    for (double time = 0, value = 0; points >> between >> time >> between >> value;) {
        values.push_back(value);
    }
    return values;
}

std::string content_of(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

class trace_settings_test : public testing::Test {
protected:
    trace_settings_test() { std::filesystem::create_directory(folder); }
    ~trace_settings_test() override { std::filesystem::remove_all(folder); }

    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("quern-trace-" + std::to_string(::getpid()));
};

TEST_F(trace_settings_test, a_trace_is_written) {
    const result r = run("--quern:trace=" + (folder / "run.pftrace").string());
    EXPECT_EQ(r.status, 0) << r.output;
    EXPECT_EQ(r.output, "");
    EXPECT_GT(std::filesystem::file_size(folder / "run.pftrace"), 1000U);
}

TEST_F(trace_settings_test, two_processes_with_one_file_are_told) {
    const std::string option = "--quern:report=" + (folder / "run.html").string();
    const result alone = run(option + " 1");
    EXPECT_EQ(alone.status, 0);
    EXPECT_EQ(alone.output, "");
    EXPECT_EQ(run(option + " 1").output, "");  // one after the other: the usual way
    const result both = run(option + " 1 while \"" TRACED_PROGRAM " " + option + " 1\"");
    EXPECT_EQ(both.status, 0) << both.output;
    EXPECT_EQ(both.output, "quern: '" + (folder / "run.html").string() +
                               "' was written while this process ran, perhaps by another one with "
                               "the same setting; the report of this one replaces it\n");
}

TEST_F(trace_settings_test, a_profile_is_printed) {
    const result r = run("--quern:profile=stdout --quern:trace-sample=1 1000");
    EXPECT_EQ(r.status, 0);
    EXPECT_NE(r.output.find("grandchild (traced_program.cpp"), std::string::npos) << r.output;
    EXPECT_NE(r.output.find("small"), std::string::npos) << r.output;
    EXPECT_NE(r.output.find(" 1000 "), std::string::npos) << r.output;
}

TEST_F(trace_settings_test, a_profile_says_when_it_is_of_a_sample) {
    const result r = run("--quern:profile=stdout --quern:trace-sample=64 10000");
    EXPECT_EQ(r.status, 0);
    if (!quern::detail::k_asan && !quern::detail::k_tsan) {  // there no task is shorter than 2 us
        EXPECT_NE(r.output.find("were recorded"), std::string::npos) << r.output;
    }
}

TEST_F(trace_settings_test, events_by_kind_of_task_are_in_the_profile_or_the_reason_is) {
    const result r = run("--quern:profile=stdout --quern:task-events=page-faults,r1a2 10");
    EXPECT_EQ(r.status, 0);
    EXPECT_NE(r.output.find("events by kind of task"), std::string::npos) << r.output;
    EXPECT_NE(r.output.find("page-faults"), std::string::npos) << r.output;
    EXPECT_NE(r.output.find("r1a2"), std::string::npos) << r.output;
}

TEST_F(trace_settings_test, events_that_do_not_exist_are_errors_at_the_start) {
    const result r = run("--quern:task-events=cache-mises 10");
    EXPECT_NE(r.status, 0);
    EXPECT_NE(r.output.find("task-events is 'cache-mises' (command line)"), std::string::npos)
        << r.output;
    EXPECT_NE(r.output.find("did you mean 'cache-misses'?"), std::string::npos) << r.output;
}

TEST_F(trace_settings_test, counters_do_not_count_the_writing_of_files) {
    // Another program may take the processor between the end of the run and the reading of the
    // counter, so the best of several runs counts. Writing would be in all of them.
    std::string output;
    for (int attempt = 0; attempt < 5; ++attempt) {
        const result r = run("--quern:report=" + (folder / "run.html").string() +
                             " --quern:profile=stdout --quern:print-counter=/threads/time/overall"
                             " --quern:print-counter-format=csv " +
                             (quern::detail::k_tsan ? "2000" : "100000"));
        EXPECT_EQ(r.status, 0);
        const auto counted = r.output.find("[s],");
        const auto profile = r.output.find("test_traced_program, ");
        ASSERT_NE(counted, std::string::npos) << r.output;
        ASSERT_NE(profile, std::string::npos) << r.output;
        const double two_workers_ns = std::atof(r.output.c_str() + counted + 4);
        const std::string duration = r.output.substr(profile + 21, 20);
        const double unit_ns = duration.find(" ms") < duration.find(',') ? 1e6 : 1e9;
        if (two_workers_ns < 2.2 * std::atof(duration.c_str()) * unit_ns + 1e6) {
            return;
        }
        output += r.output;
    }
    FAIL() << output;
}

TEST_F(trace_settings_test, a_report_is_written) {
    const result r = run("--quern:report=" + (folder / "run.html").string());
    EXPECT_EQ(r.status, 0) << r.output;
    EXPECT_GT(std::filesystem::file_size(folder / "run.html"), 1000U);
}

TEST_F(trace_settings_test, counters_that_are_named_are_in_trace_and_report) {
    const result r = run("--quern:threads=2 --quern:report=" + (folder / "run.html").string() +
                         " --quern:trace=" + (folder / "run.pftrace").string() +
                         " '--quern:trace-counters=/threads{*}/idle-rate;/runtime/memory/resident'"
                         " --quern:trace-counters=/threads/count/cumulative " +
                         (quern::detail::k_tsan ? "2000" : "100000"));
    EXPECT_EQ(r.status, 0);
    EXPECT_EQ(r.output, "");
    const std::string page = content_of(folder / "run.html");
    const std::string trace = content_of(folder / "run.pftrace");
    for (const char* const who : {"total", "worker-thread#0", "worker-thread#1"}) {
        const std::string name = "/threads{locality#0/" + std::string(who) + "}/idle-rate";
        EXPECT_NE(trace.find(name), std::string::npos) << name;
        const std::vector<double> rates = values_of(page, name);
        EXPECT_FALSE(rates.empty()) << name;
        for (const double each : rates) {
            EXPECT_GE(each, 0.0);
            EXPECT_LE(each, 101.0) << "in %, of two looks at workers that go on";
        }
    }
    const std::vector<double> memory =
        values_of(page, "/runtime{locality#0/total}/memory/resident");
    ASSERT_FALSE(memory.empty());
    EXPECT_GT(memory.back(), 1e5);
    EXPECT_NE(trace.find("/runtime{locality#0/total}/memory/resident"), std::string::npos);
    const std::vector<double> tasks =
        values_of(page, "/threads{locality#0/total}/count/cumulative");
    ASSERT_FALSE(tasks.empty());
    EXPECT_GT(*std::max_element(tasks.begin(), tasks.end()), 0.0) << "tasks in a second";
}

TEST_F(trace_settings_test, counters_that_cannot_be_read_are_told) {
    const result r = run("--quern:threads=2 --quern:report=" + (folder / "run.html").string() +
                         " '--quern:trace-counters=/threads{worker-thread#7}/idle-rate'");
    EXPECT_EQ(r.status, 0);
    EXPECT_NE(r.output.find("is not drawn: counter name"), std::string::npos) << r.output;
    EXPECT_NE(content_of(folder / "run.html").find("is not drawn: counter name"),
              std::string::npos);
}

TEST_F(trace_settings_test, counters_that_do_not_exist_are_errors_at_the_start) {
    result r = run("'--quern:trace-counters=/runtime/memory/resident;/threads/idle-rat'");
    EXPECT_NE(r.status, 0);
    EXPECT_NE(r.output.find("trace-counters is '/runtime/memory/resident;/threads/idle-rat' "
                            "(command line)"),
              std::string::npos)
        << r.output;
    EXPECT_NE(r.output.find("did you mean '/threads/idle-rate'?"), std::string::npos) << r.output;
    r = run("--quern:trace-counters=threads");
    EXPECT_NE(r.status, 0);
    EXPECT_NE(r.output.find("at character 1: expected '/'"), std::string::npos) << r.output;
}

TEST_F(trace_settings_test, the_run_ends_well_when_the_file_cannot_be_written) {
    const std::string path = (folder / "none" / "run.pftrace").string();
    const result r = run("--quern:trace=" + path);
    EXPECT_EQ(r.status, 0);
    EXPECT_EQ(r.output, "quern: the trace is lost: '" + path + "': No such file or directory\n");
}

TEST_F(trace_settings_test, each_runtime_of_a_process_writes_a_file_of_its_own) {
    const result r = run("--quern:trace=" + (folder / "run.pftrace").string() + " 10 two");
    EXPECT_EQ(r.status, 0) << r.output;
    const auto first = std::filesystem::file_size(folder / "run.pftrace");
    EXPECT_GT(std::filesystem::file_size(folder / "run.2.pftrace"), first);
}

TEST_F(trace_settings_test, a_task_that_ends_the_process_leaves_a_trace) {
    const result r = run("--quern:trace=" + (folder / "run.pftrace").string() + " 10 exit");
    EXPECT_EQ(WEXITSTATUS(r.status), 7) << r.output;
    EXPECT_GT(std::filesystem::file_size(folder / "run.pftrace"), 100U);
}

TEST_F(trace_settings_test, events_without_room_are_told_with_the_remedy) {
    const result r = run(
        "--quern:trace-events=1000 --quern:trace=" + (folder / "run.pftrace").string() + " 20000");
    EXPECT_EQ(r.status, 0);
    EXPECT_NE(r.output.find(" events had no room"), std::string::npos) << r.output;
    EXPECT_NE(r.output.find("--quern:trace-events="), std::string::npos) << r.output;
    EXPECT_NE(r.output.find("than the 1000 of each worker"), std::string::npos) << r.output;
}

TEST_F(trace_settings_test, nothing_happens_unasked) {
    const result r = run("");
    EXPECT_EQ(r.status, 0);
    EXPECT_EQ(r.output, "");
}

}  // namespace
