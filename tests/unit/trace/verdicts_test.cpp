// SPDX-License-Identifier: BSL-1.0
// Whole programs with one fault each: their verdict names the cause, the line and the remedy. No
// durations are asserted. On a shared machine another loss may occasionally be the largest, so each
// program has six attempts.
#include <quern/base/detail/config.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

class verdicts_test : public testing::Test {
protected:
    verdicts_test() { std::filesystem::create_directory(folder); }

    void SetUp() override {
        if (quern::detail::k_asan || quern::detail::k_tsan) {
            GTEST_SKIP() << "under a sanitizer no task is small, and overhead is the largest loss";
        }
    }

    ~verdicts_test() override { std::filesystem::remove_all(folder); }

    /// The verdict in the words of the profile, which the page shows as well.
    std::string verdict_of(const std::string& fault) const {
        const std::string page = (folder / "run.html").string();
        const std::string command =
            "QUERN_THREADS=2 QUERN_TRACE_EVENTS=2000000 QUERN_REPORT=" + page +
            " QUERN_PROFILE=stdout " VERDICT_PROGRAM " " + fault + " 2>&1";
        std::FILE* const pipe = ::popen(command.c_str(), "r");
        std::string text;
        char piece[4096];
        while (std::fgets(piece, sizeof piece, pipe) != nullptr) {
            text += piece;
        }
        EXPECT_EQ(::pclose(pipe), 0) << text;
        EXPECT_GT(std::filesystem::file_size(page), 10'000U);
        std::replace(text.begin(), text.end(), '\n', ' ');  // the text is wrapped
        return text;
    }

    void expect_words(const std::string& fault, std::vector<std::string> words) const {
        if (!QUERN_TEST_HAS_LINES) {  // the text around them is the same without lines
            std::erase_if(words, [](const std::string& each) {
                return each.find("verdict_program.cpp:") != std::string::npos;
            });
        }
        std::string text;
        for (int attempt = 0; attempt < 6; ++attempt) {
            text = verdict_of(fault);
            if (std::all_of(words.begin(), words.end(), [&](const std::string& each) {
                    return text.find(each) != std::string::npos;
                })) {
                return;
            }
        }
        if (text.find("Other threads or programs took") != std::string::npos) {
            GTEST_SKIP() << "others took the processors in six attempts: " << text;
        }
        ADD_FAILURE() << fault << ": one of these is missing:" << testing::PrintToString(words)
                      << "\nin: " << text;
    }

    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("quern-verdict-" + std::to_string(::getpid()));
};

TEST_F(verdicts_test, of_tasks_that_are_too_small_wants_larger_ones) {
    expect_words("tiny_tasks", {"The largest loss is overhead",
                                "'tiny' (verdict_program.cpp:", "times larger", "a larger chunk"});
}

TEST_F(verdicts_test, of_a_long_task_that_is_made_last_wants_it_first) {
    expect_words("long_task_last",
                 {"The largest loss is starvation", "One task of 'long' (verdict_program.cpp:",
                  "Begin it first, for it began when", "or divide it"});
}

TEST_F(verdicts_test, of_a_long_task_that_began_first_wants_it_divided) {
    expect_words("long_task_first",
                 {"The largest loss is starvation",
                  "One task of 'long' (verdict_program.cpp:", "so that only dividing it helps"});
}

TEST_F(verdicts_test, of_a_contended_mutex_names_it_and_its_line) {
    expect_words("mutex", {"The largest loss is starvation",
                           "'locked' (verdict_program.cpp:", "times for the mutex 0x",
                           "locked at verdict_program.cpp:", "a lock of its own"});
}

TEST_F(verdicts_test, of_a_chain_says_that_one_task_can_run_at_a_time) {
    expect_words("chain", {"The largest loss is starvation", "on average 1.0", "can run at a time",
                           "of it is in 'link' (verdict_program.cpp:"});
}

TEST_F(verdicts_test, without_a_calibration_says_that_inflation_is_unknown) {
    for (const char* const fault : {"false_sharing", "memory_bound"}) {
        const std::string text = verdict_of(fault);
        EXPECT_EQ(text.find("A good run"), std::string::npos) << text;
        EXPECT_NE(text.find("inflation    unknown"), std::string::npos) << text;
        EXPECT_NE(text.find("`quern run --calibrate"), std::string::npos) << text;
    }
}

TEST_F(verdicts_test, of_a_contended_std_mutex_wants_one_that_suspends) {
    expect_words("std_mutex", {"blocked", "'locked' (verdict_program.cpp:", "quern::mutex"});
}

TEST_F(verdicts_test, of_blocking_input_wants_a_blocking_region) {
    expect_words("blocking_io", {"blocked", "'read' (verdict_program.cpp:", "blocking"});
}

}  // namespace
