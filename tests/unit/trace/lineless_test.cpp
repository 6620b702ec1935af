// SPDX-License-Identifier: BSL-1.0
// Reports on a program without debug information: they name the program's functions, no internal
// one, and say why no line is known. So too where /proc is missing.
#include <quern/base/detail/config.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace {

struct result {
    int status;
    std::string output;  ///< both streams
};

result run(const std::string& command) {
    std::FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
    result r{-1, {}};
    char piece[4096];
    while (std::fgets(piece, sizeof piece, pipe) != nullptr) {
        r.output += piece;
    }
    r.status = ::pclose(pipe);
    return r;
}

class lineless_test : public testing::Test {
protected:
    void SetUp() override {
        if (!QUERN_TEST_HAS_LINES) {
            GTEST_SKIP() << "without libbacktrace no program has lines, and the names are fewer";
        }
    }
};

void expect_program_alone(const std::string& output) {
    EXPECT_EQ(output.find("trampoline"), std::string::npos) << output;
    EXPECT_NE(output.find("contended(std::basic_string_view"), std::string::npos) << output;
}

TEST_F(lineless_test, a_profile_names_the_function_of_the_task_and_says_why_there_is_no_line) {
    const result r = run("QUERN_PROFILE=stderr " LINELESS_PROGRAM);
    EXPECT_EQ(r.status, 0) << r.output;
    expect_program_alone(r.output);
    const std::size_t waits = r.output.find("waited for");
    ASSERT_NE(waits, std::string::npos) << r.output;
    const std::string table = r.output.substr(waits, r.output.find(" of the time of ") - waits);
    EXPECT_NE(table.find("mutex 0x"), std::string::npos) << table;
    EXPECT_NE(table.find("'s lambda\n"), std::string::npos) << table;
    EXPECT_EQ(table.find("quern::detail"), std::string::npos) << table;
    EXPECT_EQ(table.find("quern::task_group"), std::string::npos) << table;
    EXPECT_NE(r.output.find("compile it with -g"), std::string::npos) << r.output;
}

TEST_F(lineless_test, a_hang_report_does_too) {
    const result r = run(LINELESS_PROGRAM " report");
    EXPECT_EQ(r.status, 0) << r.output;
    expect_program_alone(r.output);
    EXPECT_NE(r.output.find("waits in "), std::string::npos) << r.output;
    EXPECT_EQ(r.output.find("in quern::"), std::string::npos) << r.output;
    EXPECT_NE(r.output.find("compile it with -g"), std::string::npos) << r.output;
}

TEST_F(lineless_test, a_crash_report_does_too) {
    const result r = run(LINELESS_PROGRAM " crash");
    EXPECT_NE(r.output.find("contended(std::basic_string_view"), std::string::npos) << r.output;
    EXPECT_NE(r.output.find("compile it with -g"), std::string::npos) << r.output;
}

TEST_F(lineless_test, without_proc_that_is_the_reason) {
    if (quern::detail::k_asan || quern::detail::k_tsan) {
        GTEST_SKIP() << "a sanitizer needs /proc";
    }
    const std::string without = "unshare -rm sh -c 'mount -t tmpfs none /proc && exec ";
    if (run(without + "true'").status != 0) {
        GTEST_SKIP() << "no namespace of mounts can be made here";
    }
    const result r = run("QUERN_PROFILE=stderr " + without + LINELESS_PROGRAM "'");
    EXPECT_EQ(r.status, 0) << r.output;
    EXPECT_NE(r.output.find("without /proc"), std::string::npos) << r.output;
}

}  // namespace
